import { useEffect, useState } from 'react'
import { useInvalidate } from '../../api/queries.ts'
import { openStream } from '../../api/stream.ts'

/** At most one refresh in this time, however many records arrive. */
const REFRESH_MS = 1000

/** Reads the records again when new ones match the filter. Returns false while the service does not stream them. */
export function useLogTail(
  filter: Record<'level' | 'provider' | 'operation' | 'accountId', string>,
  isEnabled: boolean,
): boolean {
  const [isOpen, setOpen] = useState(false)
  const invalidate = useInvalidate()
  const { level, provider, operation, accountId } = filter
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is another one after each render.
  useEffect(() => {
    if (!isEnabled) return
    let timer: number | undefined
    const close = openStream({
      path: '/logs/stream',
      query: { level, provider, operation, accountId },
      onState: setOpen,
      onEvent() {
        timer ??= window.setTimeout(() => {
          timer = undefined
          void invalidate('/logs')
        }, REFRESH_MS)
      },
    })
    return () => {
      close()
      setOpen(false)
      window.clearTimeout(timer)
    }
  }, [isEnabled, level, provider, operation, accountId])
  return isOpen
}
