import { SERIES, SERIES_LABELS, type Series } from "./categories";
import { amount, count, date, duration, exactMemory, fixed, list, memory, percent, unitFor, type Unit } from "./format";
import { column, largest, memoryAt, type MemoryTimelines, type Timeline } from "./timelines";

/** One mode's numbers, each with the text that prose shows. Text is null where the run did not measure it. */
export interface ModeFigures {
  peakGb: number;
  /** `13.76 GB` */
  peak: string;
  /** `13.7574 GB` */
  peak4: string;
  peakTime: string;
  /** What the peak is made of, bottom first, without what is zero. */
  parts: { category: Series; label: string; gb: number; text: string }[];
  /** `parameters 3.22, optimizer state 6.44 and gradients 3.22 GB` */
  partsText: string;
  gradientsGb: number;
  /** Gradients when most of them coexist. */
  gradients: string;
  gradients4: string;
  end: string;
  stepMs: number | null;
  step: string | null;
  timedSteps: number;
  allocatorPeak: string | null;
  reserved: string | null;
  rssPeak: string | null;
  mallocs: string | null;
  frees: string | null;
}

export interface Figures {
  /** What all amounts are written in. */
  unit: Unit["name"];
  default: ModeFigures;
  backprop: ModeFigures;
  /** Positive where backprop's peak is the lower one. */
  savingGb: number;
  saving: string;
  saving4: string;
  savingPercent: string;
  /** Gradients at their most in the plain loop: in practice all of them. */
  allGradients: string;
  /** Gradients at their most with the wrapper: the largest single one, with what lands beside it. */
  largestGradient: string;
  /** Step time with the wrapper over the plain loop's: `1.02`; null where either was not timed. */
  stepRatioValue: number | null;
  stepRatio: string | null;
  parameters: string;
  parametersExact: string;
  batchSize: string;
  /** `12 layers of 8,192 × 8,192 and one of 8,192 × 1`; null where the run has no widths. */
  layers: string | null;
  dtype: string;
  optimizer: string;
  implementation: string;
  /** `lr 0.01, betas 0.1 and 0.1` */
  settings: string;
  /** `GPU`, `CPU` or `simulated` */
  source: string;
  device: string;
  torch: string;
  python: string;
  date: string;
  dateIso: string;
  command: string;
  commit: string | null;
}

/** What a source is called. */
export const SOURCES = { cuda: "GPU", cpu: "CPU", simulated: "simulated" } as const;

/** Every number that the article's prose and the figure's caption say, derived from the data. */
export function figures(timelines: MemoryTimelines): Figures {
  const { workload, environment, default: plain, backprop } = timelines;
  const savingGb = plain.peak_gb - backprop.peak_gb;
  const ratio = plain.step_ms !== null && backprop.step_ms !== null ? backprop.step_ms / plain.step_ms : null;
  const unit = unitFor(Math.max(plain.peak_gb, backprop.peak_gb));
  const [plainFigures, backpropFigures] = [modeFigures(plain, unit), modeFigures(backprop, unit)];
  return {
    unit: unit.name,
    default: plainFigures,
    backprop: backpropFigures,
    savingGb,
    saving: memory(savingGb, unit),
    saving4: exactMemory(savingGb, unit),
    savingPercent: percent(plain.peak_gb > 0 ? savingGb / plain.peak_gb : 0),
    allGradients: plainFigures.gradients,
    largestGradient: backpropFigures.gradients,
    stepRatioValue: ratio,
    stepRatio: ratio === null ? null : fixed(ratio, 2),
    parameters: count(workload.parameters),
    parametersExact: fixed(workload.parameters, 0),
    batchSize: fixed(workload.batch_size, 0),
    layers: workload.widths ? layers(workload.widths) : null,
    dtype: workload.dtype,
    optimizer: workload.optimizer.name,
    implementation: workload.optimizer.implementation,
    settings: settings(workload.optimizer.settings),
    source: SOURCES[environment.source],
    device: environment.device,
    torch: environment.torch,
    python: environment.python,
    date: date(environment.created),
    dateIso: environment.created.slice(0, 10),
    command: environment.command,
    commit: environment.commit,
  };
}

export function modeFigures(timeline: Timeline, unit: Unit = unitFor(timeline.peak_gb)): ModeFigures {
  const text = (gigabytes: number) => memory(gigabytes, unit);
  const held = memoryAt(timeline, timeline.peak_t);
  const parts = SERIES.filter((c) => held[c] > 0).map((category) => ({
    category,
    label: SERIES_LABELS[category],
    gb: held[category],
    text: text(held[category]),
  }));
  const gradientsGb = largest(column(timeline, "GRADIENT"));
  const optional = (value: number | null, text: (value: number) => string) => (value === null ? null : text(value));
  return {
    peakGb: timeline.peak_gb,
    peak: text(timeline.peak_gb),
    peak4: exactMemory(timeline.peak_gb, unit),
    peakTime: duration(timeline.peak_t),
    parts,
    partsText: `${list(parts.map((p) => `${p.label} ${amount(p.gb, unit)}`))} ${unit.name}`,
    gradientsGb,
    gradients: text(gradientsGb),
    gradients4: exactMemory(gradientsGb, unit),
    end: duration(timeline.end_t),
    stepMs: timeline.step_ms,
    step: optional(timeline.step_ms, duration),
    timedSteps: timeline.timed_steps,
    allocatorPeak: optional(timeline.allocator_peak_gb, text),
    reserved: optional(timeline.reserved_gb, text),
    rssPeak: optional(timeline.rss_peak_gb, text),
    mallocs: optional(timeline.cuda_mallocs_per_step, (n) => fixed(n, 0)),
    frees: optional(timeline.cuda_frees_per_step, (n) => fixed(n, 0)),
  };
}

/** Widths at the boundaries between layers as runs of equal layers. */
function layers(widths: readonly number[]): string | null {
  const runs: { shape: string; n: number }[] = [];
  for (let i = 1; i < widths.length; i++) {
    const shape = `${fixed(widths[i - 1] ?? 0, 0)}\u00a0×\u00a0${fixed(widths[i] ?? 0, 0)}`;
    const last = runs.at(-1);
    if (last?.shape === shape) last.n++;
    else runs.push({ shape, n: 1 });
  }
  if (runs.length === 0) return null;
  const words = runs.map(
    ({ shape, n }, i) => `${n === 1 ? "one" : n}${i === 0 ? (n === 1 ? " layer" : " layers") : ""} of ${shape}`,
  );
  return list(words);
}

function settings(values: Readonly<Record<string, unknown>>): string {
  const text = (value: unknown) => (Array.isArray(value) ? list(value.map(String)) : String(value));
  return Object.entries(values)
    .map(([name, value]) => `${name} ${text(value)}`)
    .join(", ");
}
