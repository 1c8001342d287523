import iconv from 'iconv-lite'

/** As imapflow writes a name of a folder. */
export function encodeModifiedUtf7(text: string): string {
  return /[^\x20-\x25\x27-\x7e]/.test(text) ? iconv.encode(text, 'utf-7-imap').toString('latin1') : text
}

const FORM = /^(?:[\x20-\x25\x27-\x7e]|&[A-Za-z0-9+,]*-)*$/

/** Undefined for a name that is not modified UTF-7 (RFC 3501, section 5.1.3), such as "R&D". */
export function decodeModifiedUtf7(name: string): string | undefined {
  if (!FORM.test(name)) return undefined
  let isValid = true
  const text = name.replace(/&([^-]*)-/g, (_, shifted: string) => {
    if (shifted === '') return '&'
    const base64 = shifted.replaceAll(',', '/')
    const bytes = Buffer.from(base64, 'base64')
    const isExact = bytes.length % 2 === 0 && bytes.toString('base64').replace(/=+$/, '') === base64
    if (!isExact) {
      isValid = false
      return ''
    }
    const decoded = bytes.swap16().toString('utf16le')
    // Another name would look the same, or have another place in the hierarchy.
    if (/[\x20-\x7e]/.test(decoded) || !decoded.isWellFormed()) isValid = false
    return decoded
  })
  return isValid ? text : undefined
}
