import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { idMailboxConformance } from '../contract/id-mailbox-conformance.ts'

idMailboxConformance('gmail', () => gmailMailbox({ stepMessages: 3 }))
