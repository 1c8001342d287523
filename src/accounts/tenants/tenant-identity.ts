import { sql } from 'kysely'
import type { Db } from '../../platform/db/index.ts'
import type { MailSettings } from '../../providers/contract/index.ts'

/** A mailbox that a connection has opened. */
interface OpenedMailbox {
  connectionId: string
  email: string
  customUserId: string | null
  /** The provider's id of the user. Undefined where the directory cannot be read. */
  userId: string | undefined
  settings: MailSettings
}

/** What an account of a tenant is found by, as in `LinkAccount`. */
interface TenantIdentity {
  providerUser: string
  /** The account was stored under this one until the directory could be read. */
  formerUser?: string
  settings: MailSettings
}

const [BY_ID, BY_ADDRESS] = ['user', 'mailbox']

/** The user's id in the `providerUser` of an account, if the directory could be read when it was connected. */
export function findUserId(providerUser: string): string | undefined {
  const [kind, id] = parse(providerUser)
  return kind === BY_ID ? id : undefined
}

/**
 * Finds out which account a mailbox belongs to. Addresses are renamed, and pass on to other people, so the user's id decides. Where it
 * is not known, the address does, with the id of the inbox at Microsoft. An account stays the same when the directory becomes readable,
 * or no longer is.
 */
export async function identifyMailbox(db: Db, mailbox: OpenedMailbox): Promise<TenantIdentity> {
  const { userId, email, settings } = mailbox
  const accounts = (await accountsAt(db, mailbox)).filter((account) => isSameMailbox(account.settings, settings))
  if (userId !== undefined) {
    const former = accounts.find(({ providerUser }) => findUserId(providerUser) === undefined)
    const formerUser = former === undefined ? {} : { formerUser: former.providerUser }
    return { providerUser: JSON.stringify([BY_ID, userId]), ...formerUser, settings }
  }
  const [same] = accounts
  if (same !== undefined) {
    // Its settings may name the user by the id, which stays when the address changes.
    const kept = findUserId(same.providerUser) === undefined ? settings : same.settings
    return { providerUser: same.providerUser, settings: kept }
  }
  const inbox = settings.graph?.inbox
  const providerUser = JSON.stringify([BY_ADDRESS, email.toLowerCase(), ...(inbox === undefined ? [] : [inbox])])
  return { providerUser, settings }
}

/** The accounts of the connection at this address, for the same user of the application. */
async function accountsAt(db: Db, { connectionId, email, customUserId }: OpenedMailbox) {
  const rows = await db.read
    .selectFrom('accounts')
    .select(['providerUser', 'settings'])
    .where('connectionId', '=', connectionId)
    .where(sql`lower("email")`, '=', email.toLowerCase())
    .where('customUserId', customUserId === null ? 'is' : '=', customUserId)
    .orderBy('id')
    .execute()
  return rows.map(({ providerUser, settings }) => ({
    providerUser,
    settings: JSON.parse(settings) as MailSettings,
  }))
}

function isSameMailbox({ graph: one }: MailSettings, { graph: other }: MailSettings): boolean {
  return one?.inbox === undefined || other?.inbox === undefined || one.inbox === other.inbox
}

function parse(providerUser: string): unknown[] & [unknown, string?] {
  return JSON.parse(providerUser)
}
