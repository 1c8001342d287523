/**
 * The canonical form of a host: lower case, punycode, no trailing dot, an IP address in its normal form without brackets
 * (`0x7f.1` and `2130706433` are 127.0.0.1, as resolvers read them). Undefined when the text is not a host.
 */
export function hostName(text: string): string | undefined {
  const trimmed = text.trim()
  const isBare6 = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(trimmed)
  // Rejects characters that end the host inside a URL: `good.example@10.0.0.1`, `10.0.0.1/x`, `fe80::1%eth0`.
  if (!isBare6 && /[\s/?#@\\%:|^<>]/.test(trimmed.replace(/^\[[0-9a-f:.]+\]$/i, ''))) return undefined
  const url = `http://${isBare6 ? `[${trimmed}]` : trimmed}/`
  if (!URL.canParse(url)) return undefined
  const name = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return name === '' || name.length > 253 || name.split('.').includes('') ? undefined : name
}
