import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { HOST } from '../loopback.ts'
import { startSmtpSink } from '../smtp.ts'
import { isUnpacked, startProcess, startUnpacked } from './process.ts'
import { startRecipientPolicy } from './recipient-policy.ts'
import type { SubmissionOptions, SubmissionServer } from './submission-server.ts'
import { giveTo, systemGroup, systemUser, unpackedEnvironment } from './unpacked.ts'

const REALM = 'mail.example.test'

export const postfixAvailable = () => isUnpacked('postfix')

/** Starts Postfix, whose master must be root. It hands over each message to another server before it accepts it. */
export function startPostfix({ makeCertificate, ...options }: PostfixOptions = {}): Promise<SubmissionServer> {
  return startUnpacked('postfix', (root, folder) => start(root, folder, options), makeCertificate)
}

interface PostfixOptions extends SubmissionOptions {
  mechanisms?: string
  /** The port where a Dovecot checks logins, with its users and its mechanisms. */
  dovecotAuthPort?: number
}

async function start(
  root: string,
  folder: string,
  {
    user = 'ada',
    password = 'secret',
    mechanisms = 'PLAIN LOGIN CRAM-MD5 DIGEST-MD5 SCRAM-SHA-256',
    offersStartTls = true,
    dovecotAuthPort,
  }: PostfixOptions,
): Promise<SubmissionServer> {
  const libraries = unpackedEnvironment(root)
  const env = { ...libraries, LD_LIBRARY_PATH: `${join(root, 'usr/lib/postfix')}:${libraries.LD_LIBRARY_PATH}` }
  await makeQueue(folder)
  await mkdir(join(folder, 'sasl'))
  await writeFile(join(folder, 'sasl/smtpd.conf'), saslConfig(folder, mechanisms))
  addSaslUser(join(root, 'usr/sbin/saslpasswd2'), env, folder, user, password)
  await giveTo(systemUser('postfix'), folder, ['sasldb2'])
  const policy = await startRecipientPolicy()
  const sink = await startSmtpSink({ plain: true })
  const port = await freePort()
  await writeFile(
    join(folder, 'main.cf'),
    mainConfig(folder, root, { policyPort: policy.port, sinkPort: sink.port, offersStartTls, dovecotAuthPort }),
  )
  await writeFile(join(folder, 'master.cf'), masterConfig(port))
  const server = await startProcess({
    program: join(root, 'usr/lib/postfix/sbin/master'),
    args: ['-c', folder, '-d'],
    env: { ...env, MAIL_CONFIG: folder, MAIL_LOGTAG: 'postfix' },
    ports: [port],
    folder,
  })
  return {
    host: HOST,
    port,
    messages: () => sink.messages,
    behave: policy.behave,
    async stop() {
      await server.end()
      await policy.close()
      await sink.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The folders that `postfix post-install` would make, with their owners. */
async function makeQueue(folder: string): Promise<void> {
  const owner = systemUser('postfix')
  const own = [
    'active',
    'bounce',
    'corrupt',
    'defer',
    'deferred',
    'flush',
    'hold',
    'incoming',
    'private',
    'saved',
    'trace',
  ]
  for (const name of [...own, 'pid', 'maildrop', 'public'])
    await mkdir(join(folder, 'queue', name), { recursive: true })
  await mkdir(join(folder, 'data'))
  await giveTo(owner, folder, ['data', ...own.map((name) => `queue/${name}`)])
  for (const name of ['maildrop', 'public'])
    await chown(join(folder, 'queue', name), owner.uid, systemGroup('postdrop'))
  await chmod(join(folder, 'queue/private'), 0o700)
  await chmod(join(folder, 'queue/maildrop'), 0o730)
  await chmod(join(folder, 'queue/public'), 0o710)
}

function addSaslUser(
  program: string,
  env: Record<string, string>,
  folder: string,
  user: string,
  password: string,
): void {
  const args = ['-p', '-c', '-f', join(folder, 'sasldb2'), '-u', REALM, user]
  const { status, stderr } = spawnSync(program, args, { env, input: `${password}\n`, encoding: 'utf8' })
  if (status !== 0) throw new Error(`saslpasswd2 failed: ${stderr}`)
}

function saslConfig(folder: string, mechanisms: string): string {
  return `
pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: ${folder}/sasldb2
mech_list: ${mechanisms}
`
}

interface MainOptions {
  offersStartTls: boolean
  dovecotAuthPort: number | undefined
  policyPort: number
  sinkPort: number
}

function mainConfig(
  folder: string,
  root: string,
  { policyPort, sinkPort, offersStartTls, dovecotAuthPort }: MainOptions,
): string {
  return `
compatibility_level = 3.6
import_environment = MAIL_CONFIG MAIL_LOGTAG LD_LIBRARY_PATH SASL_PATH
queue_directory = ${folder}/queue
data_directory = ${folder}/data
daemon_directory = ${root}/usr/lib/postfix/sbin
command_directory = ${root}/usr/sbin
shlib_directory = no
mail_owner = postfix
setgid_group = postdrop
myhostname = ${REALM}
mydestination =
mynetworks =
inet_interfaces = ${HOST}
inet_protocols = ipv4
maillog_file = /dev/stdout
alias_maps =
local_recipient_maps =
message_size_limit = 67108864
smtpd_sasl_auth_enable = yes
${dovecotAuthPort === undefined ? `smtpd_sasl_type = cyrus\ncyrus_sasl_config_path = ${folder}/sasl` : `smtpd_sasl_type = dovecot\nsmtpd_sasl_path = inet:${HOST}:${dovecotAuthPort}`}
smtpd_sasl_local_domain = ${REALM}
smtpd_sasl_security_options = noanonymous
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_recipient_restrictions = check_policy_service inet:${HOST}:${policyPort}, permit_sasl_authenticated, reject
smtpd_proxy_filter = ${HOST}:${sinkPort}
smtpd_tls_security_level = ${offersStartTls ? 'may' : 'none'}
smtpd_tls_cert_file = ${folder}/cert.pem
smtpd_tls_key_file = ${folder}/key.pem
smtpd_delay_reject = yes
`
}

function masterConfig(port: number): string {
  return `
${port} inet n - n - - smtpd
rewrite unix - - n - - trivial-rewrite
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
`
}
