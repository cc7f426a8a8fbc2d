import type { Figures } from "./figures";

const BYTES = { GB: "10⁹", MB: "10⁶", kB: "10³" } as const;

/** The headline figure's caption, a sentence each. */
export function caption(f: Figures): string[] {
  const { default: plain, backprop } = f;
  const model = `${f.parameters} ${f.dtype} parameters${f.layers === null ? "" : ` (${f.layers})`}`;
  const where =
    f.source === "simulated"
      ? "computed over tensors without storage, on no device"
      : `measured on a ${f.source} (${f.device})`;
  const sentences = [
    f.savingGb > 0
      ? `BackProp’s peak is ${f.saving} (${f.savingPercent}) lower: at most ${backprop.gradients} of gradients exist at once, where the plain loop holds ${plain.gradients}.`
      : `BackProp’s peak is ${backprop.peak}, the plain loop’s ${plain.peak}: here gradients do not set the peak.`,
    `One training step of ${model} at batch size ${f.batchSize} with ${f.optimizer} (${f.implementation} implementation), ${where}, PyTorch ${f.torch}, ${f.date}.`,
    `Both plots share their scales; 1 ${f.unit} is ${BYTES[f.unit]} bytes.`,
  ];
  if (plain.step !== null && backprop.step !== null)
    sentences.push(
      `The time axis is that of the recorded step; unrecorded, a step takes ${plain.step} and ${backprop.step} with BackProp.`,
    );
  return sentences;
}
