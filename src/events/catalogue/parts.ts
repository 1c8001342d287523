import { Type } from 'typebox'

export const address = Type.Object({ name: Type.String(), email: Type.String() }, { title: 'Address' })

export const provider = Type.Enum(['gmail', 'microsoft', 'imap'])

/** The account of every example. */
export const ACCOUNT = { accountId: 'acc_01k9zv3h5q8m2n4p6r7s8t9vwx', provider: 'imap' } as const
