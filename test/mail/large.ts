/** Messages over the limits of a structure or a header, by name. */
export const LARGE: Readonly<Record<string, () => string>> = {
  'forwarded message to 1,500 people': () =>
    multipart('mixed', 'forwarded message to 1,500 people', [
      'Content-Type: text/plain\r\n\r\nsee attached',
      `Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=fwd.eml\r\n\r\nFrom: a@example.com\r\nTo: ${people(1500)}\r\nSubject: inner\r\n\r\ninner text`,
      'Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=r.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQ=',
    ]),
  'message of 328 small files': () =>
    multipart('mixed', 'message of 328 small files', [
      'Content-Type: text/html\r\n\r\n<p>invoices</p>',
      ...Array.from({ length: 328 }, (_, index) => {
        const name = `6294736_18_01042023_${index}.txt`
        return `Content-Type: text/plain; charset=us-ascii; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\nfile ${index}`
      }),
    ]),
  'newsletter of 300 images': () =>
    multipart('related', 'newsletter of 300 images', [
      `Content-Type: text/html\r\n\r\n${Array.from({ length: 300 }, (_, index) => `<img src="cid:image${index}@example.com">`).join('\r\n')}`,
      ...Array.from({ length: 300 }, (_, index) => {
        const name = `image-with-a-name-of-fifty-characters-number-${index}.png`
        return [
          `Content-Type: image/png; name="${name}"`,
          `Content-Description: ${name}`,
          `Content-Disposition: inline; filename="${name}"; creation-date="Fri, 20 Nov 2026 10:00:00 GMT"`,
          `Content-ID: <image${index}@example.com>`,
          'Content-Transfer-Encoding: base64',
          '',
          'iVBORw0KGgo=',
        ].join('\r\n')
      }),
    ]),
  'message to 6,000 people': () =>
    [
      'From: sender@example.com',
      `To: ${people(6000)}`,
      'Subject: message to 6,000 people',
      'Message-ID: <giant-to@cases.example.com>',
      'Date: Fri, 20 Nov 2026 10:00:00 +0000',
      '',
      'x',
      '',
    ].join('\r\n'),
}

function people(count: number): string {
  return Array.from({ length: count }, (_, index) => `"Person Number ${index}" <person${index}@example.com>`).join(
    ',\r\n ',
  )
}

function multipart(type: string, subject: string, parts: readonly string[]): string {
  const head = [
    'From: Sender <sender@example.com>',
    'To: box@example.com',
    `Subject: ${subject}`,
    'Date: Fri, 20 Nov 2026 10:00:00 +0000',
    `Message-ID: <${subject.replace(/\W+/g, '-')}@cases.example.com>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/${type}; boundary=frontier`,
    '',
    '',
  ].join('\r\n')
  return `${head}${parts.map((part) => `--frontier\r\n${part}\r\n`).join('')}--frontier--\r\n`
}
