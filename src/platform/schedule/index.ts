/**
 * The scheduler of an instance: runs the keys that it owns (accounts, subscriptions) when they are due, from memory, a bounded
 * number at once and per host.
 */
export {
  errorText,
  OwnedScheduler,
  type RunContext,
  type RunResult,
  type RunState,
  type RunTotals,
} from './owned-scheduler.ts'
