import { type Examples, working } from '../../src/platform/http/openapi/examples.ts'
import { type ApiResponse, api } from '../kit/http/http.ts'
import type { ApiStory } from './api-story.ts'

const FORMS = ['POST /auth/authorize', 'POST /auth/authorize/imap/folders', 'POST /auth/authorize/imap']

/** Opens the hosted page with a new session and submits its forms with the fields of the examples, as a browser does. */
export async function submitForms(
  { service, realBody }: ApiStory,
  examples: Examples,
): Promise<[operation: string, response: ApiResponse][]> {
  const owner = api(service.url, service.key)
  const visitor = api(service.url)
  const { json } = await owner.post('/auth/sessions', { redirectUri: 'https://acme.example/mailbox-connected' })
  const opened = { session: String(json.code), state: 'user-4712.Qm8vZ2' }
  const page = await visitor.get(`/auth/authorize?${new URLSearchParams(opened)}`, { accept: 'text/html' })
  const headers = {
    accept: 'text/html',
    cookie: page.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; '),
  }
  const responses: [string, ApiResponse][] = []
  for (const operation of FORMS) {
    const [example] = working(examples[operation] ?? [])
    const { session: _session, state: _state, ...shown } = Object(example?.request?.body)
    const texts = Object.entries(Object(realBody(shown))).map(([name, value]) => [name, String(value)])
    const fields = { ...Object.fromEntries(texts), ...opened }
    responses.push([operation, await visitor.form(operation.replace('POST ', ''), fields, headers)])
  }
  return responses
}
