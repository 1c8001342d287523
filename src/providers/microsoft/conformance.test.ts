import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { idMailboxConformance } from '../conformance/id-mailbox.ts'

idMailboxConformance('microsoft', microsoftMailbox)
idMailboxConformance('a tenant at Microsoft', () => microsoftMailbox({}, 'tenant'))
