import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { idMailboxConformance } from '../conformance/id-mailbox.ts'

idMailboxConformance('gmail', () => gmailMailbox({ stepMessages: 3 }))
idMailboxConformance('a tenant at Google', () => gmailMailbox({ stepMessages: 3 }, systemClock, 'tenant'))
