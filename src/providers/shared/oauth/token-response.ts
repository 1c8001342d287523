/** The longest lifetime that is accepted. */
const MAX_LIFETIME_SECONDS = 86_400
/** Tokens and lists of scopes are stored with the account, and an access token goes into one command of IMAP. */
const MAX_CHARS = 16 * 1024

/**
 * A response of the token endpoint as RFC 6749 has it, without its ID token. Mail.ru leaves out that its tokens are bearer tokens, Zoho
 * reports errors with status 200, and others write null, or a lifetime that is none, for what they leave out.
 */
export async function asStandard(response: Response, onIdToken: (idToken: unknown) => void): Promise<Response> {
  const text = await response.text()
  const { status, headers } = response
  const body: unknown = await new Response(text).json().catch(() => undefined)
  if (typeof body !== 'object' || body === null) return new Response(text === '' ? null : text, { status, headers })
  const { id_token: idToken, expires_in: lifetime, ...rest } = withoutEmpty({ ...body })
  if (idToken !== undefined) onIdToken(idToken)
  const seconds = typeof lifetime === 'string' || typeof lifetime === 'number' ? Number(lifetime) : 0
  const isToken = typeof rest.access_token === 'string'
  const isError = status === 200 && !isToken && typeof rest.error === 'string'
  const standard = {
    ...(isToken && { token_type: 'Bearer' }),
    ...(seconds > 0 && { expires_in: Math.min(seconds, MAX_LIFETIME_SECONDS) }),
    ...rest,
  }
  return new Response(JSON.stringify(standard), {
    status: isError ? 400 : status,
    headers: { 'content-type': 'application/json' },
  })
}

function withoutEmpty(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''))
}

/** Whether servers can take the token in a header and in a command, and the account can store what came with it. */
export function isUsable({
  access_token: accessToken,
  refresh_token: refreshToken = '',
  token_type: type,
  scope = '',
}: {
  access_token: string
  refresh_token?: string
  token_type: string
  scope?: string
}): boolean {
  const isShort = [accessToken, refreshToken, scope].every(({ length }) => length <= MAX_CHARS)
  return isShort && type === 'bearer' && /^[!-~]+$/.test(accessToken)
}
