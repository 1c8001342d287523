import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { idMailboxConformance } from '../conformance/id-mailbox.ts'

idMailboxConformance('gmail', () => gmailMailbox({ stepMessages: 3 }))
