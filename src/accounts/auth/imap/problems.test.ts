import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Hosted, IMAP_FIELDS, imapForm, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { CONNECTION_PROBLEMS, type ConnectionProblem } from '../../../platform/errors/connection-problems.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import { LANGUAGES, translate } from '../../../ui/hosted/index.ts'
import { formErrors } from './form-errors.ts'

const PATH = '/auth/authorize/imap'

describeEachDatabase('the IMAP form', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open())
  })
  afterEach(() => hosted.close())

  const json = (body: Record<string, unknown>) =>
    hosted.call(PATH, { json: body, headers: { accept: 'application/json' } })

  it.each([
    ['imap_tls', 'certificate_expired', ['host']],
    ['imap_tls', 'certificate_self_signed', ['host', 'allowSelfSigned']],
    ['imap_tls', 'starttls_not_offered', ['port', 'secure']],
    ['imap_auth_failed', 'no_password_login', ['host']],
  ] as const)('names the reason of %s: %s', async (code, problem, fields) => {
    hosted.mail.failure = new ProviderError(code === 'imap_tls' ? 'tls' : 'auth_expired', 'secret greeting', {
      problem,
    })
    const { code: session, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    const page = await (await hosted.call(PATH, imapForm(session, opened))).text()
    expect(page).toContain(`data-code="${code}"`)
    expect(page).toContain(translate('en')(`problem.${problem}.text`))
    const invalid = [...page.matchAll(/ id="(\w+)"[^>]* aria-invalid="true"/g)].map(([, name]) => name)
    expect(invalid.sort()).toEqual([...fields].sort())
    const response = await json({ session, state: 's', ...IMAP_FIELDS })
    const { error } = (await response.json()) as { error: { code: string; message: string; details: object[] } }
    expect(error).toMatchObject({ code, details: [{ path: 'body.host', code: problem }] })
    expect(error.message).toMatch(/^The mail server .+\. .+\.$/)
    expect(await hosted.status(session)).toMatchObject({ failureCode: code, failureReason: problem })
    hosted.mail.failure = undefined
    await json({ session, state: 's', ...IMAP_FIELDS })
    expect(await hosted.status(session)).toMatchObject({ status: 'completed', failureReason: null })
  })
})

it.each(Object.keys(LANGUAGES))('every problem of every server has a sentence of its own in %s', (language) => {
  const all = Object.keys(CONNECTION_PROBLEMS) as ConnectionProblem[]
  // The form asks for passwords.
  const problems = all.filter((problem) => problem !== 'no_oauth_login')
  for (const code of ['imap_tls', 'smtp_tls', 'caldav_tls'] as const) {
    const texts = problems.map((problem) => {
      const error = new AppError(code, { details: [{ path: 'body.host', message: 'x', code: problem }] })
      const { form } = formErrors(translate(language), error) ?? {}
      expect(form?.fields.length).toBeGreaterThan(0)
      return form?.text
    })
    // The certificate of a calendar server cannot be accepted, so that one text is enough for two problems.
    expect(new Set(texts).size).toBe(problems.length - (code === 'caldav_tls' ? 1 : 0))
  }
})
