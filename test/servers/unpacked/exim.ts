import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { HOST } from '../loopback.ts'
import type { ReceivedMessage } from '../smtp.ts'
import { isUnpacked, startProcess, startUnpacked } from './process.ts'
import { startRecipientPolicy } from './recipient-policy.ts'
import type { SubmissionOptions, SubmissionServer } from './submission-server.ts'
import { giveTo, systemUser, unpackedEnvironment } from './unpacked.ts'

export const eximAvailable = () => isUnpacked('exim')

/** Starts Exim as its own user. Everything that it accepts stays in its queue. */
export function startExim({ makeCertificate, ...options }: SubmissionOptions = {}): Promise<SubmissionServer> {
  return startUnpacked('exim', (root, folder) => start(root, folder, options), makeCertificate)
}

async function start(root: string, folder: string, options: SubmissionOptions): Promise<SubmissionServer> {
  const owner = systemUser('Debian-exim')
  for (const path of ['spool', 'spool/input', 'log']) await mkdir(join(folder, path))
  const policy = await startRecipientPolicy()
  const port = await freePort()
  await writeFile(join(folder, 'exim.conf'), config(folder, port, policy.port, options))
  await giveTo(owner, folder, ['', 'spool', 'spool/input', 'log', 'key.pem'])
  const server = await startProcess({
    program: join(root, 'usr/sbin/exim4'),
    args: ['-C', join(folder, 'exim.conf'), '-bdf'],
    env: unpackedEnvironment(root),
    ...owner,
    ports: [port],
    folder,
  })
  return {
    host: HOST,
    port,
    messages: () => queuedMessages(join(folder, 'spool/input')),
    behave: policy.behave,
    async stop() {
      await server.end()
      await policy.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function config(
  folder: string,
  port: number,
  policyPort: number,
  { user = 'ada', password = 'secret', offersStartTls = true }: SubmissionOptions,
): string {
  return `
primary_hostname = mail.example.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/spool/pid
daemon_smtp_ports = ${port}
local_interfaces = ${HOST}
tls_advertise_hosts = ${offersStartTls ? '*' : ''}
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
message_size_limit = 64M
queue_only = true
acl_smtp_rcpt = recipient
acl_smtp_data = accept

begin acl
recipient:
  warn set acl_m_reply = \${readsocket{inet:${HOST}:${policyPort}}{$local_part@$domain}{5s}{}{accept}}
  defer condition = \${if match{$acl_m_reply}{^4}}
        message = $acl_m_reply 4.7.1 Greylisted, please try again
  deny condition = \${if match{$acl_m_reply}{^5}}
       message = $acl_m_reply 5.1.1 No such user
  accept authenticated = *
  deny message = relay not permitted

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{${user}}}{eq{$auth3}{${password}}}}}
  server_set_id = $auth2
login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = \${if and{{eq{$auth1}{${user}}}{eq{$auth2}{${password}}}}}
  server_set_id = $auth1
`
}

/** Reads the queue as the chapter "Format of spool files" of Exim's specification describes it. */
function queuedMessages(folder: string): ReceivedMessage[] {
  const ids = readdirSync(folder).flatMap((name) => /^(.*)-H$/.exec(name)?.[1] ?? [])
  return ids.sort().map((id) => {
    const [envelope = '', header = ''] = split(readFileSync(join(folder, `${id}-H`), 'latin1'), '\n\n')
    const lines = envelope.split('\n')
    const count = lines.findLastIndex((line) => /^\d+$/.test(line))
    const body = split(readFileSync(join(folder, `${id}-D`), 'latin1'), '\n')[1] ?? ''
    return {
      from: lines[2]?.replace(/^<(.*)>$/, '$1') ?? '',
      to: lines.slice(count + 1),
      raw: Buffer.from(`${visibleHeaders(header)}\n${body}`.replaceAll('\n', '\r\n'), 'latin1'),
      isUtf8: lines.includes('-smtputf8'),
    }
  })
}

/** Each header begins with its length, a letter and a space. Exim marks those that it removed with a star. */
function visibleHeaders(text: string): string {
  let headers = ''
  for (let rest = text; ; ) {
    const [prefix, length, letter] = /^(\d+)(.) /.exec(rest) ?? []
    if (prefix === undefined) return headers
    const end = prefix.length + Number(length)
    if (letter !== '*') headers += rest.slice(prefix.length, end)
    rest = rest.slice(end)
  }
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + separator.length)]
}
