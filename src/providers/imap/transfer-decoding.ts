/** Undoes a Content-Transfer-Encoding piece by piece; pieces may end anywhere. */
export interface TransferDecoder {
  write(chunk: Buffer): Buffer
  end(): Buffer
}

/** An encoding nobody knows leaves the bytes as they are. */
export function transferDecoder(encoding: string): TransferDecoder {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return base64Decoder()
    case 'quoted-printable':
      return quotedPrintableDecoder()
    default:
      return { write: (chunk) => chunk, end: () => Buffer.alloc(0) }
  }
}

function base64Decoder(): TransferDecoder {
  let rest = ''
  return {
    write(chunk) {
      const text = rest + chunk.toString('latin1').replace(/[^A-Za-z0-9+/]/g, '')
      const whole = text.length - (text.length % 4)
      rest = text.slice(whole)
      return Buffer.from(text.slice(0, whole), 'base64')
    },
    end: () => Buffer.from(rest, 'base64'),
  }
}

function quotedPrintableDecoder(): TransferDecoder {
  let rest = ''
  const decode = (text: string) =>
    Buffer.from(
      text
        .replace(/[ \t]+(?=\r?\n)/g, '')
        .replace(/=\r?\n/g, '')
        .replace(/=([0-9A-Fa-f]{2})/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    )
  return {
    write(chunk) {
      const text = rest + chunk.toString('latin1')
      // Only whole lines are decoded: an escape or a soft line break may be cut in two. A line without end is cut anyway.
      const lineEnd = text.lastIndexOf('\n') + 1
      const cut = lineEnd > 0 ? lineEnd : text.length > 65_536 ? text.lastIndexOf('=', text.length - 3) : 0
      rest = text.slice(Math.max(0, cut))
      return decode(text.slice(0, Math.max(0, cut)))
    },
    end: () => decode(rest),
  }
}
