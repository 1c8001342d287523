export interface Cookie {
  name: string
  value: string
}

/** The cookies of a `Cookie` header. Names are echoed into `Set-Cookie`, so only characters that ours can contain pass. */
export function parseCookies(header: string | undefined): Cookie[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return /^\s*[A-Za-z0-9_]+\s*$/.test(name) ? [{ name: name.trim(), value: value.join('=').trim() }] : []
  })
}

/** `Path=…; HttpOnly; SameSite=…`, and `Secure` where the service is reached over https. */
export function cookieAttributes(publicUrl: string, sameSite: 'Lax' | 'Strict', path = ''): string {
  const { protocol, pathname } = new URL(publicUrl)
  const full = pathname.replace(/\/$/, '') + path || '/'
  return `Path=${full}; HttpOnly; SameSite=${sameSite}${protocol === 'https:' ? '; Secure' : ''}`
}
