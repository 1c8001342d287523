import { createHmac, randomInt } from 'node:crypto'
import type { Db, Tx } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, invalid } from '../../../lib/errors.ts'
import type { Sealer } from '../../../lib/seal.ts'
import { sameText } from '../../../lib/signature.ts'
import { isoTime } from '../../../lib/time.ts'
import { checkAddress } from '../../../providers/mime/index.ts'
import type { Account } from '../../accounts/index.ts'
import type { Outbox } from '../../outbox/index.ts'
import type { Experience } from '../experiences/experience.ts'
import { codeMessage } from './message.ts'

export interface VerificationDeps {
  db: Db
  clock: Clock
  log: Log
  sealer: Sealer
  outbox: Pick<Outbox, 'sendingAccount' | 'prepare' | 'accept'>
}

/** Codes that prove that a guest reads the mail of an address. */
export interface Verification {
  /** Sends a new code from the first host that can send; earlier codes end. Throws `validation_failed`, and `conflict` without such a host. */
  send(experience: Experience, email: string): Promise<{ expiresAt: string }>
  /** Throws `validation_failed` unless the experience needs no code, or this is the one of the address. */
  check(experience: Experience, email: string, code: string | undefined): Promise<void>
}

const LIFETIME_MS = 10 * 60_000
const MAX_ATTEMPTS = 5
const PATH = 'body.verificationCode'

export function verification({ db, clock, log, sealer, outbox }: VerificationDeps): Verification {
  const key = sealer.derive('codes of guests')
  const hash = (parts: readonly string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
  const idOf = (experience: Experience, email: string) => hash([experience.id, email.trim().toLowerCase()])

  /** The first host whose account can send. */
  async function sender({ slug, definition }: Experience): Promise<Account> {
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

  return {
    async send(experience, given) {
      if (!needsCode(experience)) throw invalid('body.email', 'needs no code: bookings of this experience ask for none')
      const { address, problem } = checkAddress({ name: '', email: given })
      if (address === undefined) throw invalid('body.email', problem)
      const account = await sender(experience)
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      const message = codeMessage(experience.name, code, address)
      const prepared = await outbox.prepare(account, message, {
        ...{ sendAt: null, repliesTo: null, draft: null, tracked: false },
      })
      const nowMs = clock.now()
      const id = idOf(experience, address.email)
      const row = { id, code: hash([id, code]), attempts: 0, expiresAt: nowMs + LIFETIME_MS }
      await db.transaction(async (tx) => {
        await tx.deleteFrom('bookingCodes').where('expiresAt', '<=', nowMs).execute()
        await tx
          .insertInto('bookingCodes')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        await outbox.accept(tx, prepared)
      })
      return { expiresAt: isoTime(row.expiresAt) }
    },

    async check(experience, email, code) {
      if (!needsCode(experience)) return
      if (code === undefined || code.trim() === '') throw invalid(PATH, 'is required: request a code for the address')
      const id = idOf(experience, email)
      // A transaction of its own: a wrong attempt counts although the booking fails.
      const outcome = await db.transaction((tx) => attempt(tx, id, hash([id, code.replaceAll(/\s/g, '')])))
      if (outcome === 'right') return
      throw invalid(PATH, outcome === 'wrong' ? 'is not the code that was sent' : 'has expired; request another code')
    },
  }

  async function attempt(tx: Tx, id: string, code: string): Promise<'right' | 'wrong' | 'ended'> {
    const row = await tx
      .selectFrom('bookingCodes')
      .selectAll()
      .where('id', '=', id)
      .modifyEnd(db.dialect.forUpdate)
      .executeTakeFirst()
    if (row === undefined || row.expiresAt <= clock.now() || row.attempts >= MAX_ATTEMPTS) return 'ended'
    if (sameText(row.code, code)) return 'right'
    await tx
      .updateTable('bookingCodes')
      .set({ attempts: row.attempts + 1 })
      .where('id', '=', id)
      .execute()
    return 'wrong'
  }
}

function needsCode({ definition }: Experience): boolean {
  return definition.bookingForm?.verifyEmail === true
}
