import { gmailDraftsFixture } from '../../../test/servers/drafts-fixtures.ts'
import { draftsConformance } from '../contract/drafts-conformance.ts'

draftsConformance('gmail', gmailDraftsFixture)
