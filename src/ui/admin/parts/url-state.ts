import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'wouter'

/** The state of a list, kept in the address so that it can be shared and survives a reload. Empty values are left out. */
export function useUrlState<Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams()
  const list = names.join()
  const values = useMemo(
    () => Object.fromEntries(list.split(',').map((name) => [name, search.get(name) ?? ''])) as Record<Name, string>,
    [search, list],
  )
  const set = useCallback(
    (changes: Partial<Record<Name | 'page' | 'cursor', string | null>>, { replace = true, keepsPage = false } = {}) => {
      setSearch(
        (previous) => {
          const next = new URLSearchParams(previous)
          // Another filter begins at its first page.
          if (!keepsPage) for (const name of ['page', 'cursor']) next.delete(name)
          for (const [name, value] of Object.entries<string | null | undefined>(changes)) {
            if (value === null || value === undefined || value === '') next.delete(name)
            else next.set(name, value)
          }
          return next
        },
        { replace },
      )
    },
    [setSearch],
  )
  return [values, set] as const
}
