import { DatabaseUnavailable } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import {
  ProviderError,
  type ProviderName,
  type Sender,
  type SendProvider,
  type SentCopies,
  type SmtpSettings,
} from '../../../providers/contract/index.ts'
import { knownServer, rememberServer } from '../store.ts'
import type { AfterSendingDeps } from './after-sending.ts'

export interface SenderDeps extends AfterSendingDeps {
  sending(provider: ProviderName): SendProvider
}

/** Where the copies of sent messages are saved. */
export interface CopyMailbox {
  copies: SentCopies
  accessVersion: number
}

interface Opened {
  sender: Sender
  accessVersion: number
}

/** The connection over which a run sends the messages of its account. It is opened on demand, and kept. */
export class AccountSender {
  readonly #deps: SenderDeps
  readonly #accountId: string
  #current: Promise<Opened> | undefined
  #provider: ProviderName | undefined

  constructor(deps: SenderDeps, accountId: string) {
    this.#deps = deps
    this.#accountId = accountId
  }

  /** Undefined until the connection was opened. */
  get provider(): ProviderName | undefined {
    return this.#provider
  }

  /** Throws `not_found` when the account was deleted. */
  async open(): Promise<Sender> {
    return (await this.#opened()).sender
  }

  /** Throws as `open`. */
  async copyMailbox(): Promise<CopyMailbox> {
    const { sender, accessVersion } = await this.#opened()
    if (sender.copies === undefined) throw new Error(`a ${this.#provider} account saves its own copies`)
    return { copies: sender.copies, accessVersion }
  }

  /** Lets later messages open a connection of their own. Returns the function that closes the one in use. */
  setAside(): () => Promise<void> {
    const current = this.#current
    this.#current = undefined
    return () => closeSender(current)
  }

  /** Rejects when opening it failed for another reason than that something cannot be reached. */
  close(): Promise<void> {
    return closeSender(this.#current)
  }

  #opened(): Promise<Opened> {
    this.#current ??= this.#openSender()
    return this.#current
  }

  async #openSender(): Promise<Opened> {
    const { db, accounts, sending } = this.#deps
    const [{ provider }, access] = await Promise.all([accounts.get(this.#accountId), accounts.access(this.#accountId)])
    const { accessVersion } = access
    this.#provider = provider
    const smtp = await knownServer(db.read, this.#accountId, accessVersion)
    const sender = sending(provider).open(access, {
      ...(smtp !== undefined && { smtp: JSON.parse(smtp) }),
      onSettings: (settings) => void this.#rememberServer(settings, accessVersion),
    })
    return { sender, accessVersion }
  }

  /** Never rejects: the next run derives the settings again. Logs every failure except an outage of the database. */
  async #rememberServer(settings: SmtpSettings, accessVersion: number): Promise<void> {
    const { db, log } = this.#deps
    const accountId = this.#accountId
    try {
      await db.transaction((tx) => rememberServer(tx, { accountId, accessVersion, smtp: JSON.stringify(settings) }))
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return
      const message = 'Cannot remember the SMTP server of an account. The next run finds it again.'
      log.error(message, { accountId, operation: 'outbox.server', error })
    }
  }
}

async function closeSender(opening: Promise<Opened> | undefined): Promise<void> {
  const opened = await opening?.catch(ignoreUnreachable)
  await opened?.sender.close()
}

/** The attempt that opened the connection has reported that the account, its provider or the database cannot be reached. */
function ignoreUnreachable(error: unknown): undefined {
  const isExpected = error instanceof AppError || error instanceof ProviderError || error instanceof DatabaseUnavailable
  if (!isExpected) throw error
}
