import { useEffect, useState } from 'preact/hooks'
import { type ApiError, asApiError, type SchedulerApi } from './api.ts'
import { type Slot, toRange, type Window } from './days.ts'

interface TimesRequest {
  api: SchedulerApi
  window: Window
  durationMinutes: number
  timeZone: string
}

/** The slots of a window. `slots` are undefined until they are loaded the first time. */
export interface Times {
  slots: readonly Slot[] | undefined
  isLoading: boolean
  error: ApiError | undefined
  /** Where the booking continues instead. */
  redirectUrl: string | undefined
  /** Loads them again. */
  reload(): void
}

/** After a failure, while the times that are known are shown. */
const RETRY_MS = 30_000
/** Slots that expire at once would be loaded without end. */
const MIN_LIFETIME_MS = 10_000
const MAX_LIFETIME_MS = 3_600_000

interface Loaded {
  key: string
  slots?: readonly Slot[]
  redirectUrl?: string | undefined
  error?: ApiError
}

/**
 * Loads the slots of the window, and again when they expire. A page in the background waits until it is seen. The lifetime is
 * that between `generatedAt` and `expiresAt`, because the clock of the visitor may be wrong.
 */
export function useTimes({ api, window: days, durationMinutes, timeZone }: TimesRequest): Times {
  const [round, setRound] = useState(0)
  const [isLoading, setLoading] = useState(true)
  const [loaded, setLoaded] = useState<Loaded>()
  const key = `${days.from} ${days.to} ${durationMinutes} ${timeZone}`

  useEffect(() => {
    const controller = new AbortController()
    let expiresMs = Number.POSITIVE_INFINITY
    let timer: ReturnType<typeof setTimeout> | undefined

    const loadIfExpired = () => {
      if (document.visibilityState !== 'hidden' && Date.now() >= expiresMs) void load()
    }
    const loadIn = (ms: number) => {
      expiresMs = Date.now() + ms
      timer = setTimeout(loadIfExpired, ms)
    }
    const load = async () => {
      expiresMs = Number.POSITIVE_INFINITY
      clearTimeout(timer)
      setLoading(true)
      try {
        const range = toRange(days, Date.now())
        if (range === undefined) return setLoaded({ key, slots: [] })
        const { slots, generatedAt, expiresAt, redirectUrl } = await api.slots(
          { range: { ...range, timezone: timeZone }, durationMinutes, timezone: timeZone },
          controller.signal,
        )
        setLoaded({ key, slots, redirectUrl })
        if (expiresAt == null) return
        const lifetimeMs = Date.parse(expiresAt) - Date.parse(generatedAt)
        const waitMs = Math.min(Math.max(lifetimeMs, MIN_LIFETIME_MS), MAX_LIFETIME_MS)
        loadIn(waitMs)
      } catch (error) {
        if (controller.signal.aborted) return
        // Times that were loaded before stay: a booking finds out whether they are still free.
        setLoaded((before) => (before?.key === key && before.slots ? before : { key, error: asApiError(error) }))
        loadIn(RETRY_MS)
      } finally {
        if (!controller.signal.aborted) setLoading(false)
      }
    }
    void load()
    document.addEventListener('visibilitychange', loadIfExpired)
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', loadIfExpired)
    }
  }, [api, key, round])

  const current = loaded?.key === key ? loaded : undefined
  return {
    slots: current?.slots,
    isLoading: isLoading || current === undefined,
    error: current?.error,
    redirectUrl: current?.redirectUrl,
    reload: () => setRound(round + 1),
  }
}
