import { expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { memoryLog } from '../../../../test/kit/service/memory-log.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { ProviderError, type SendProvider, type SmtpSettings } from '../../../providers/contract/index.ts'
import { knownServer } from '../store.ts'
import { AccountSender } from './account-sender.ts'

const SERVER: SmtpSettings = {
  host: 'smtp.acme.example',
  port: 587,
  username: 'ada',
  security: 'starttls',
}

/** Derives its settings while it opens. */
const derivesSettings: SendProvider = {
  open(_access, options) {
    options?.onSettings?.(SERVER)
    return {
      send: () => Promise.reject(new Error('sends nothing')),
      wasSent: async () => false,
      close: async () => {},
    }
  },
}

const failsWith = (error: Error): SendProvider => ({
  open() {
    throw error
  },
})

describeEachDatabase('the connection over which a run sends', (open) => {
  async function fixture(provider: SendProvider) {
    const db = await open()
    const { accounts, link } = testAccounts(db)
    const account = await link(imapUser('ada'))
    const { log, entries } = memoryLog()
    const deps = {
      db,
      clock: systemClock,
      log,
      accounts,
      deleteDraft: async () => {},
      timing: { retry: { baseMs: 1, capMs: 1 } },
      sending: () => provider,
    }
    const { accessVersion } = await accounts.access(account.id)
    const remembered = () => knownServer(db.read, account.id, accessVersion)
    return { db, sender: new AccountSender(deps, account.id), entries, remembered }
  }

  it('remembers the server that worked', async () => {
    const { sender, entries, remembered } = await fixture(derivesSettings)
    await sender.open()
    await eventually(async () => expect(JSON.parse((await remembered()) ?? 'null')).toEqual(SERVER))
    expect(entries).toEqual([])
  })

  it('logs a server that it cannot remember', async () => {
    let report: (() => void) | undefined
    const { db, sender, entries } = await fixture({
      open(access, options) {
        report = () => options?.onSettings?.(SERVER)
        return derivesSettings.open(access)
      },
    })
    await sender.open()
    await db.transaction((tx) => tx.schema.dropTable('outboxServers').execute())
    report?.()
    await eventually(() => {
      expect(entries).toMatchObject([
        { level: 'error', operation: 'outbox.server', error: { message: expect.stringContaining('outboxServers') } },
      ])
    })
  })

  it('closes without the error of a connection that could not be opened', async () => {
    const error = new ProviderError('unavailable', 'Cannot reach smtp.acme.example:587.')
    const { sender } = await fixture(failsWith(error))
    await expect(sender.open()).rejects.toBe(error)
    await sender.close()
    await sender.setAside()()
  })

  it('does not close over a fault of its own', async () => {
    const error = new TypeError('a bug')
    const { sender } = await fixture(failsWith(error))
    await expect(sender.open()).rejects.toBe(error)
    await expect(sender.close()).rejects.toBe(error)
    await expect(sender.setAside()()).rejects.toBe(error)
  })
})
