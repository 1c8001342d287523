import { createHmac, randomInt } from 'node:crypto'
import type { Account } from '../../accounts/index.ts'
import type { Composition, Outbox } from '../../mail/outbox/index.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { sameText } from '../../platform/crypto/signature.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { secretToken } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import type { Experience } from '../experiences/experience.ts'
import type { MailBudget } from '../guests/budget.ts'
import { addressKey, guestAddress } from '../guests/guest-address.ts'
import type { CodeRow } from '../tables.ts'

export interface VerificationDeps {
  db: Db
  clock: Clock
  log: Log
  sealer: Sealer
  outbox: Pick<Outbox, 'sendingAccount' | 'prepare' | 'accept'>
  budget: MailBudget
}

/** The code of a booking request. */
interface EnteredCode {
  code: string | undefined
  /** Undefined for programs that do not send it: then only the client that requested the code may use it. */
  verificationId: string | undefined
  /** See `clientBlock`. */
  client: string
}

/**
 * Codes that prove that a guest reads the mail of an address. Each request has a code of its own, so that nobody can use up or replace
 * that of another person: it belongs to a `verificationId`, which only the requester knows.
 */
export interface Verification {
  /**
   * Sends a code from the first host that can send. Throws `validation_failed`, `conflict` without such a host, and `MailLimited`.
   */
  send(experience: Experience, email: string, client: string): Promise<{ verificationId: string; expiresAt: string }>
  /**
   * The id of the code, for `use`. Undefined when the experience needs none. Throws `validation_failed` unless it is the one that was
   * sent to the address.
   */
  check(experience: Experience, email: string, entered: EnteredCode): Promise<string | undefined>
  /** Ends the code, in the transaction that inserts the booking. Throws `validation_failed` when another booking has used it. */
  use(tx: Tx, id: string): Promise<void>
}

const LIFETIME_MS = 10 * 60_000
const MAX_ATTEMPTS = 5
const PATH = 'body.verificationCode'
const ENDED = 'has expired or was used; request another code'

export function verification(deps: VerificationDeps): Verification {
  const { db, clock, sealer, outbox, budget } = deps
  const key = sealer.derive('codes of guests')
  const hash = (...parts: readonly string[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
  const hashGuest = (experience: Experience, email: string) => hash('guest', experience.id, addressKey(email))

  return {
    async send(experience, entered, client) {
      if (!needsCode(experience)) throw invalid('body.email', 'needs no code: bookings of this experience ask for none')
      const { address, problem } = guestAddress(entered)
      if (address === undefined) throw invalid('body.email', problem, 'invalid_email')
      const account = await findSender(deps, experience)
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      const message = codeMessage(experience.name, code, address)
      const prepared = await outbox.prepare(account, message, {
        sendAt: null,
        repliesTo: null,
        draft: null,
        tracked: false,
      })
      const nowMs = clock.now()
      const verificationId = secretToken()
      const guest = hashGuest(experience, address.email)
      const row: CodeRow = {
        id: hash('verification', verificationId),
        guest,
        client: budget.clientHash(client),
        code: hash('code', guest, code),
        attempts: 0,
        unboundAttempts: 0,
        mailCharge: null,
        expiresAt: nowMs + LIFETIME_MS,
      }
      await db.transaction(async (tx) => {
        await outbox.accept(tx, prepared)
        // Without a `verificationId`, only the latest code of a client counts.
        await tx
          .updateTable('bookingCodes')
          .set({ unboundAttempts: MAX_ATTEMPTS })
          .where('guest', '=', guest)
          .where('client', '=', row.client)
          .execute()
        const mail = { experienceId: experience.id, accountId: account.id, client, emails: [address.email] }
        const charge = await budget.charge(tx, mail)
        const mailCharge = charge === undefined ? null : JSON.stringify(charge)
        await tx
          .insertInto('bookingCodes')
          .values({ ...row, mailCharge })
          .execute()
      })
      return { verificationId, expiresAt: isoTime(row.expiresAt) }
    },

    async check(experience, email, { code, verificationId, client }) {
      if (!needsCode(experience)) return undefined
      if (code === undefined || code.trim() === '')
        throw invalid(PATH, 'is required: request a code for the address', 'required')
      const guest = hashGuest(experience, email)
      const wanted = { guest, code: hash('code', guest, code.replaceAll(/\s/g, '')) }
      // A transaction of its own: a wrong attempt counts although the booking fails.
      const outcome = await db.transaction(async (tx) =>
        verificationId === undefined
          ? tryCodeOfClient(deps, tx, wanted, budget.clientHash(client))
          : tryCodeOfRequest(deps, tx, wanted, hash('verification', verificationId)),
      )
      if (typeof outcome === 'object') return outcome.id
      throw invalid(PATH, outcome === 'wrong' ? 'is not the code that was sent' : ENDED, 'wrong_code')
    },

    async use(tx, id) {
      const used = await tx.deleteFrom('bookingCodes').where('id', '=', id).returning('mailCharge').executeTakeFirst()
      if (used === undefined) throw invalid(PATH, ENDED, 'wrong_code')
      if (used.mailCharge !== null) await budget.refund(tx, JSON.parse(used.mailCharge))
    },
  }
}

/** Hashes. */
interface Wanted {
  guest: string
  code: string
}

type Outcome = { id: string } | 'wrong' | 'ended'

async function tryCodeOfRequest({ db, clock }: VerificationDeps, tx: Tx, wanted: Wanted, id: string): Promise<Outcome> {
  const row = await tx
    .selectFrom('bookingCodes')
    .selectAll()
    .where('id', '=', id)
    .where('guest', '=', wanted.guest)
    .modifyEnd(db.dialect.forUpdate)
    .executeTakeFirst()
  if (row === undefined || row.expiresAt <= clock.now() || row.attempts >= MAX_ATTEMPTS) return 'ended'
  if (sameText(row.code, wanted.code)) return { id }
  const attempts = row.attempts + 1
  await tx.updateTable('bookingCodes').set({ attempts }).where('id', '=', id).execute()
  return 'wrong'
}

/** The latest code of the client. Others of its network may use up these attempts, but not those with the `verificationId`. */
async function tryCodeOfClient(
  { db, clock }: VerificationDeps,
  tx: Tx,
  wanted: Wanted,
  client: string,
): Promise<Outcome> {
  const row = await tx
    .selectFrom('bookingCodes')
    .selectAll()
    .where('guest', '=', wanted.guest)
    .where('client', '=', client)
    .where('unboundAttempts', '<', MAX_ATTEMPTS)
    .limit(1)
    .modifyEnd(db.dialect.forUpdate)
    .executeTakeFirst()
  if (row === undefined || row.expiresAt <= clock.now()) return 'ended'
  if (sameText(row.code, wanted.code)) return { id: row.id }
  const unboundAttempts = row.unboundAttempts + 1
  await tx.updateTable('bookingCodes').set({ unboundAttempts }).where('id', '=', row.id).execute()
  return 'wrong'
}

/** The first host whose account can send. */
async function findSender({ log, outbox }: VerificationDeps, { slug, definition }: Experience): Promise<Account> {
  for (const id of definition.defaultAccountIds) {
    try {
      return await outbox.sendingAccount(id)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
  }
  log.warn(`Cannot send a code to a guest: no host of the experience "${slug}" has an account that can send.`, {
    operation: 'scheduler.verify',
    metadata: { experience: slug },
  })
  throw new AppError('conflict', { message: 'Codes cannot be sent at the moment. Try again later.' })
}

function needsCode({ definition }: Experience): boolean {
  return definition.bookingForm?.verifyEmail === true
}

/** The message with the code of a guest. Contains nothing that the guest entered. */
function codeMessage(experience: string, code: string, to: RemoteAddress): Composition {
  return {
    to: [to],
    cc: [],
    bcc: [],
    replyTo: [],
    headers: [],
    attachments: [],
    inReplyTo: null,
    references: [],
    html: null,
    subject: `${code} is your code for “${experience.replaceAll(/\s+/g, ' ')}”`,
    text: [
      `Your code: ${code}`,
      '',
      `Enter it on the booking page of “${experience}” within 10 minutes.`,
      'If you did not book anything, ignore this message.',
      '',
    ].join('\n'),
  }
}
