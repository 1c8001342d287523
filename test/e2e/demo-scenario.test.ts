import { describe, expect, it, onTestFinished } from 'vitest'
import { demoApi } from '../../src/demo/api.ts'
import { runImapScenario } from '../../src/demo/imap-scenario.ts'
import type { DemoMailServer } from '../../src/demo/mail-server.ts'
import { rawMessage, SAMPLE_MESSAGES } from '../../src/demo/messages.ts'
import { startDemoReceiver } from '../../src/demo/receiver.ts'
import { describeOneDatabase } from '../kit/database.ts'
import { startServiceProcess } from '../kit/process.ts'
import { dovecotAvailable, startDovecot } from '../servers/dovecot.ts'

const USER = 'ada@mail.example'
const PASSWORD = 'demo password'

/** The demo's mailbox on a real Dovecot. */
async function realMailbox(): Promise<DemoMailServer> {
  const dovecot = await startDovecot()
  onTestFinished(() => dovecot.stop())
  await dovecot.addUser(USER, PASSWORD)
  for (const mail of SAMPLE_MESSAGES) await dovecot.deliver(USER, rawMessage(mail), { date: mail.sentAt })
  return {
    host: dovecot.host,
    port: dovecot.imapsPort,
    user: USER,
    password: PASSWORD,
    deliver: (mail) => dovecot.deliver(USER, rawMessage(mail)),
    close: () => dovecot.stop(),
  }
}

describe.skipIf(!dovecotAvailable())('on a real mail server', () => {
  describeOneDatabase('the demo scenario on the built service', 'postgres', (databases) => {
    it('connects by the hosted pages, lists messages and receives a signed webhook', {
      timeout: 120_000,
    }, async () => {
      const mail = await realMailbox()
      const receiver = await startDemoReceiver()
      onTestFinished(() => receiver.close())
      const service = await startServiceProcess(await databases.place())
      onTestFinished(async () => void (await service.stop()))
      const steps: string[] = []
      const narrator = {
        say: () => {},
        async step<T>(title: string, run: () => Promise<T>, describeResult?: (result: T) => string[]) {
          const result = await run()
          steps.push(title, ...(describeResult?.(result) ?? []))
          return result
        },
      }
      const api = demoApi(service.url, service.key)
      const accountId = await runImapScenario({ narrator, api, mail, receiver })
      expect(await api.get(`/accounts/${accountId}`)).toMatchObject({
        email: USER,
        provider: 'imap',
        status: 'connected',
      })
      expect(steps.join('\n')).toContain('→ 5 messages:')
      expect(steps.join('\n')).toContain('Über die Primzahlen (Grüße aus Göttingen)')
    })
  })
})
