import { Posthorn } from '@posthorn/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDemoApplication } from '../../src/demo/application/application.ts'
import type { DemoMailServer } from '../../src/demo/mail-server.ts'
import { imapMailbox } from '../../src/demo/mailbox.ts'
import { rawMessage, SAMPLE_MESSAGES } from '../../src/demo/messages.ts'
import { runScenario } from '../../src/demo/scenario.ts'
import { story } from '../../src/demo/story.ts'
import { visitor } from '../../src/demo/visitor.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { describeOneDatabase } from '../kit/database/database.ts'
import { startServiceProcess } from '../kit/service/process.ts'
import { dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { freePort } from '../servers/free-port.ts'

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
    it('connects by the hosted pages, lists messages and receives a signed webhook', async () => {
      const mailbox = imapMailbox(await realMailbox())
      const port = await freePort()
      // The pages and the application need the same host: the application passes the cookie of the page on.
      const password = 'a long enough password'
      const env = { PUBLIC_URL: `http://127.0.0.1:${port}`, ADMIN_PASSWORD: password }
      const service = await startServiceProcess({ ...(await databases.place()), port, env })
      onTestFinished(async () => void (await service.stop()))
      const posthorn = new Posthorn({ baseUrl: service.url, apiKey: service.key })
      const steps = story({ start: '', endpoint: '', connect: '', list: '', receive: '' })
      const application = await startDemoApplication({
        posthorn,
        mailbox,
        story: steps,
        now: systemClock.now,
        service: { ...service, password },
      })
      onTestFinished(() => application.close())
      const accountId = await runScenario({
        story: steps,
        posthorn,
        service,
        mailbox,
        application,
        visitor: visitor(application.url, mailbox.signIn),
        ended: new AbortController().signal,
      })
      expect(await posthorn.accounts.get(accountId)).toMatchObject({
        email: USER,
        provider: 'imap',
        status: 'connected',
      })
      const lines = steps.steps.flatMap((step) => step.lines).join('\n')
      expect(lines).toContain('→ 5 messages:')
      const opened = await fetch(application.portalUrl, { redirect: 'manual' })
      expect(opened.headers.get('location')).toBe(`${service.url}/admin`)
      const cookie = opened.headers.getSetCookie().map((line) => line.split(';')[0])
      expect((await fetch(`${service.url}/accounts`, { headers: { cookie: cookie.join('; ') } })).status).toBe(200)
      // The link works once.
      expect((await fetch(application.portalUrl, { redirect: 'manual' })).headers.getSetCookie()).toEqual([])
      expect(lines).toContain('Über die Primzahlen (Grüße aus Göttingen)')
    })
  })
})
