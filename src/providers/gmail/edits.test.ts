import { idChanges } from '../../../test/servers/changes-fixtures.ts'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { editsConformance } from '../conformance/edits.ts'

editsConformance('gmail', async () => idChanges(await gmailMailbox(), true))
