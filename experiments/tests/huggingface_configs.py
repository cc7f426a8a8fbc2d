"""Small configs of well-known Hugging Face architectures, as their config.json would hold them."""

import json
from pathlib import Path
from typing import Any

_SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
_DECODER = {**_SMALL, "num_key_value_heads": 2, "max_position_embeddings": 64, "pad_token_id": 0}
_ENCODER = {**_SMALL, "max_position_embeddings": 64}
_SEQ2SEQ = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
_EXPERTS = {"num_experts_per_tok": 2, "num_local_experts": 4, "num_experts": 4, "moe_intermediate_size": 32}

CONFIGS: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": {"model_type": "llama", **_DECODER},
    "Qwen2ForCausalLM": {"model_type": "qwen2", **_DECODER},
    "Qwen3ForCausalLM": {"model_type": "qwen3", **_DECODER, "head_dim": 8},
    "MistralForCausalLM": {"model_type": "mistral", **_DECODER},
    "Gemma2ForCausalLM": {
        "model_type": "gemma2",
        **_DECODER,
        "head_dim": 8,
        "sliding_window": 4,
        "num_hidden_layers": 2,
    },
    "Gemma3ForCausalLM": {"model_type": "gemma3_text", **_DECODER, "head_dim": 8},
    "Phi3ForCausalLM": {"model_type": "phi3", **_DECODER},
    "OlmoForCausalLM": {"model_type": "olmo", **_DECODER},
    "MixtralForCausalLM": {"model_type": "mixtral", **_DECODER, **_EXPERTS},
    "Qwen3MoeForCausalLM": {"model_type": "qwen3_moe", **_DECODER, **_EXPERTS, "head_dim": 8},
    "GPT2LMHeadModel": {
        "model_type": "gpt2",
        "vocab_size": 64,
        "n_embd": 32,
        "n_layer": 1,
        "n_head": 4,
        "n_positions": 64,
    },
    "GPTNeoXForCausalLM": {"model_type": "gpt_neox", **_ENCODER},
    "OPTForCausalLM": {
        "model_type": "opt",
        **_ENCODER,
        "ffn_dim": 64,
        "word_embed_proj_dim": 32,
    },
    "FalconForCausalLM": {"model_type": "falcon", **_SMALL},
    "BloomForCausalLM": {"model_type": "bloom", "vocab_size": 64, "hidden_size": 32, "n_layer": 1, "n_head": 4},
    "MambaForCausalLM": {"model_type": "mamba", **_SMALL},
    "BertForMaskedLM": {"model_type": "bert", **_ENCODER},
    "BertForSequenceClassification": {"model_type": "bert", **_ENCODER},
    "RobertaForMaskedLM": {"model_type": "roberta", **_ENCODER},
    "DistilBertForMaskedLM": {
        "model_type": "distilbert",
        "vocab_size": 64,
        "dim": 32,
        "n_layers": 1,
        "n_heads": 4,
        "hidden_dim": 64,
    },
    "ElectraModel": {"model_type": "electra", **_ENCODER, "embedding_size": 16},
    "DebertaV2ForSequenceClassification": {"model_type": "deberta-v2", **_ENCODER},
    "ModernBertForMaskedLM": {"model_type": "modernbert", **_ENCODER, "pad_token_id": 0},
    "LlamaForSequenceClassification": {"model_type": "llama", **_DECODER, "pad_token_id": None},
    "T5ForConditionalGeneration": {
        "model_type": "t5",
        "vocab_size": 64,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 64,
        "num_layers": 1,
        "num_heads": 4,
        "decoder_start_token_id": 0,
    },
    "BartForConditionalGeneration": {"model_type": "bart", "vocab_size": 64, "max_position_embeddings": 64, **_SEQ2SEQ},
    "WhisperForConditionalGeneration": {
        "model_type": "whisper",
        **_SEQ2SEQ,
        "vocab_size": 64,
        "num_mel_bins": 8,
        "max_source_positions": 16,
        "max_target_positions": 16,
        **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
    },
    "ViTForImageClassification": {"model_type": "vit", **_SMALL, "image_size": 32, "patch_size": 16},
    "ConvNextForImageClassification": {
        "model_type": "convnext",
        "hidden_sizes": [8, 16, 24, 32],
        "depths": [1, 1, 1, 1],
    },
    "SwinForImageClassification": {
        "model_type": "swin",
        "image_size": 32,
        "patch_size": 2,
        "embed_dim": 8,
        "depths": [1, 1],
        "num_heads": [2, 2],
        "window_size": 4,
    },
    "ResNetForImageClassification": {
        "model_type": "resnet",
        "embedding_size": 8,
        "hidden_sizes": [8, 16],
        "depths": [1, 1],
    },
    "CLIPModel": {
        "model_type": "clip",
        "text_config": _ENCODER,
        "vision_config": {**_SMALL, "image_size": 32, "patch_size": 16},
    },
    "Wav2Vec2Model": {"model_type": "wav2vec2", **_SMALL, "num_conv_pos_embeddings": 16},
}


def write_config(folder: Path, architecture: str, **settings: Any) -> Path:
    """Writes a config.json of that architecture, with more settings, and returns its path."""
    file = folder / "config.json"
    file.write_text(json.dumps({"architectures": [architecture], **CONFIGS[architecture], **settings}))
    return file
