// Preloaded into a service by NODE_OPTIONS. Moves its wall clock by CLOCK_SHIFT_MS; see `shiftedClock` in `process.ts`.
const RealDate = globalThis.Date
const shiftMs = Number(process.env.CLOCK_SHIFT_MS)

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shiftMs)
    else super(...args)
  }

  static now() {
    return RealDate.now() + shiftMs
  }
}
