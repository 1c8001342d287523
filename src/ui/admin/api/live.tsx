import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { openStream } from './stream.ts'

const Live = createContext(false)

/** At most one refresh in this time, however many events arrive. */
const REFRESH_MS = 1500
/** How often lists are read again while events arrive, and while they do not. */
const POLL_MS = { live: 60_000, offline: 10_000 }

/** Marks what is shown as outdated when an event says so: queries name the events in `meta.live`. */
export function LiveUpdates({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const [isLive, setLive] = useState(false)
  useEffect(() => {
    const seen = new Set<string>()
    let timer: number | undefined
    const refresh = () => {
      timer = undefined
      const types = [...seen]
      seen.clear()
      void client.invalidateQueries({
        predicate: ({ meta }) => types.some((type) => covers(meta?.live, type)),
      })
    }
    const close = openStream({
      path: '/events/stream',
      onState: setLive,
      onEvent({ type }) {
        seen.add(type)
        timer ??= window.setTimeout(refresh, REFRESH_MS)
      },
    })
    return () => {
      close()
      window.clearTimeout(timer)
    }
  }, [client])
  return <Live value={isLive}>{children}</Live>
}

function covers(live: unknown, type: string): boolean {
  const prefixes = Array.isArray(live) ? live : []
  return prefixes.some((prefix) => typeof prefix === 'string' && type.startsWith(prefix))
}

/** True while events arrive. */
export function useIsLive(): boolean {
  return useContext(Live)
}

/** The interval for queries that are kept up to date. */
export function usePollMs(): number {
  return useIsLive() ? POLL_MS.live : POLL_MS.offline
}
