import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { idMailboxConformance } from '../contract/id-mailbox-conformance.ts'

idMailboxConformance('microsoft', microsoftMailbox)
