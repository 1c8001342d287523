import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { startService } from '../../../test/kit/service/service.ts'
import { freePort } from '../../../test/servers/free-port.ts'
import { startDemoMailServer } from '../../demo/mail-server.ts'
import { cli } from '../cli.ts'

async function running() {
  const port = await freePort()
  const environment = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` }
  const service = await startService({ environment })
  closing({ close: () => service.stop() })
  const mail = closing(await startDemoMailServer())
  const lines: string[] = []
  const errors: string[] = []
  const opened: string[] = []

  /** Runs `posthorn connect` as on a desktop. */
  const connect = (...options: string[]) =>
    cli(['connect', mail.user, '--url', service.url, '--key', service.key, ...options], {
      out: (text) => lines.push(text),
      error: (text) => errors.push(text),
      openBrowser: (url) => opened.push(url) > 0,
    })

  /** Signs in to the mailbox as a screen of an application does. */
  async function signIn(link: string, password: string): Promise<number> {
    const session = new URL(link).searchParams.get('session')
    const { host, port, user } = mail
    const fields = { session, state: 'state', email: user, username: user, password, host, port, secure: false }
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(fields) }
    return (await fetch(`${service.url}/auth/authorize/imap`, request)).status
  }
  return { service, mail, lines, errors, opened, connect, signIn }
}

it('opens the link in the browser, and prints the account once the mailbox is connected', async () => {
  const { service, mail, lines, errors, opened, connect, signIn } = await running()
  const code = connect('--user', '4711')
  await eventually(() => expect(opened).toHaveLength(1))
  const [link = ''] = opened
  expect(lines.join('\n')).toContain(`in your browser. If no page opened, open this link:\n\n  ${link}\n`)
  const page = await fetch(link, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain(mail.user)
  expect(await signIn(link, 'wrong')).not.toBe(200)
  await eventually(() => expect(errors.join('\n')).toContain('The sign-in failed (imap_auth_failed)'))
  expect(await signIn(link, mail.password)).toBe(200)
  expect(await code).toBe(0)
  const [account] = (await api(service.url, service.key).get('/accounts')).json.accounts
  expect(account).toMatchObject({ email: mail.user, customUserId: '4711' })
  expect(lines.at(-2)).toBe(`Connected ${mail.user}: ${account.id}`)
})

it('only prints the link with --no-browser, and the account alone with --json', async () => {
  const { mail, lines, errors, opened, connect, signIn } = await running()
  const code = connect('--no-browser', '--json')
  const link = await eventually(() => {
    const [found] = /http\S+session=\S+/.exec(errors.join('\n')) ?? []
    expect(found).toBeDefined()
    return found ?? ''
  })
  expect(await signIn(link, mail.password)).toBe(200)
  expect(await code).toBe(0)
  expect(JSON.parse(lines.join('\n'))).toMatchObject({ email: mail.user })
  expect(opened).toEqual([])
})
