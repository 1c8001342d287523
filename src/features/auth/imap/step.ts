import type { FastifyReply } from 'fastify'
import type { RemoteFolder } from '../../../providers/contract/index.ts'
import { type FormFaults, imapPage, NO_FAULTS } from '../../../ui/hosted/index.ts'
import type { ImapFields } from '../../accounts/index.ts'
import type { ProposedServer } from '../detection/autoconfig.ts'
import { demandText, HOST_BY_DOMAIN, KNOWN_HOSTS, knownServer } from '../detection/known-servers.ts'
import type { Admitted, Flow } from '../hosted/access.ts'
import { authorizeUrl } from '../sessions/service.ts'
import { formValues, selectableFolders } from './form.ts'

export interface ImapStep {
  fields: ImapFields
  faults?: FormFaults
  /** Signing in worked: the folders to choose from. */
  folders?: readonly RemoteFolder[]
}

/** The form for the mail server, with what is known and what is wrong. */
export async function imapStep(
  flow: Flow,
  reply: FastifyReply,
  { code, state, session }: Pick<Admitted, 'code' | 'state' | 'session'>,
  { fields, faults = NO_FAULTS, folders }: ImapStep,
): Promise<string> {
  const values = formValues(fields, await proposal(flow, fields))
  const server = knownServer(values.email)
  const proposed = server !== undefined && (server.host === undefined || server.host === values.host)
  const firstStep =
    session.providerFixed || session.provider === 'imap' ? undefined : authorizeUrl(flow.publicUrl, code, state)
  return flow.sendPage(reply, (context) =>
    imapPage(context, {
      action: `${flow.publicUrl}/auth/authorize/imap`,
      session: code,
      state,
      values: folders === undefined ? values : { ...values, mailbox: values.mailbox || 'INBOX' },
      faults,
      note: proposed && folders === undefined ? demandText(server) : undefined,
      folders: folders && selectableFolders(folders).map(({ path }) => ({ path, label: path })),
      passwordToken: folders && flow.tokens.make(fields, session.id, state),
      backHref: firstStep,
      knownServers: values.email === '' ? HOST_BY_DOMAIN : undefined,
      hosts: KNOWN_HOSTS,
    }),
  )
}

/** What the domain says of its server, where none was typed. */
async function proposal(flow: Flow, { email, host }: ImapFields): Promise<ProposedServer | undefined> {
  const isOpen = typeof email === 'string' && email !== '' && (host === undefined || host === '')
  return isOpen ? flow.detection.serverOf(email) : undefined
}
