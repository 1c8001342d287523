import { createContext, type ReactNode, useContext } from 'react'
import { useRead } from '../api/queries.ts'
import type { AccountNames } from '../api/types.ts'

type Names = Readonly<Record<string, string>>

const Shown = createContext<Names>({})

/** The addresses of these accounts by id. Accounts that are being read, and deleted ones, are missing. */
export function useAccountNames(ids: readonly string[]): Names {
  const asked = [...new Set(ids)].sort().join()
  const { data } = useRead<AccountNames>(
    '/admin/account-names',
    { ids: asked },
    { enabled: asked !== '', pollMs: false, live: ['account.'] },
  )
  return data?.names ?? {}
}

/** Reads the addresses of all accounts of a list at once, for `AccountName`. */
export function WithAccountNames({ ids, children }: { ids: readonly string[]; children: ReactNode }) {
  return <Shown value={useAccountNames(ids)}>{children}</Shown>
}

/** The address of an account; its id when the account was deleted. */
export function AccountName({ id }: { id: string | null }) {
  const names = useContext(Shown)
  if (id === null) return '–'
  return <span className="clamp-1">{names[id] ?? id}</span>
}
