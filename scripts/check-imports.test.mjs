import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkImports } from './check-imports.mjs'

const roots = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

/** The violations in a tree given as `{ 'platform/db/index.ts': "import …" }`. */
function findViolations(tree) {
  const root = mkdtempSync(join(tmpdir(), 'posthorn-imports-'))
  roots.push(root)
  for (const [file, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, 'src', file)), { recursive: true })
    writeFileSync(join(root, 'src', file), text)
  }
  return checkImports(root)
}

describe('allows imports', () => {
  it('downward, through the index of a module', () => {
    expect(
      findViolations({
        'platform/ids.ts': '',
        'platform/db/index.ts': "export { open } from './open.ts'",
        'platform/db/open.ts': "import { ids } from '../ids.ts'",
        'providers/contract/index.ts': "import type { Db } from '../../platform/db/index.ts'",
        'accounts/index.ts':
          "import { open } from '../platform/db/index.ts'\nimport { kind } from '../providers/contract/index.ts'",
        'mail/sync/index.ts': "import { accounts } from '../../accounts/index.ts'",
        'app/features.ts':
          "import { sync } from '../mail/sync/index.ts'\nimport { config } from '../config/index.ts'\nimport { store } from './store.ts'",
        'app/store.ts': '',
        'config/index.ts': '',
        'main.ts': "import { app } from './app/features.ts'",
      }),
    ).toEqual([])
  })

  it('of types and read fragments within a layer', () => {
    expect(
      findViolations({
        'mail/drafts/index.ts': "export { labelNames } from './read.ts'\nexport type { Label } from './label.ts'",
        'mail/drafts/read.ts': '',
        'mail/drafts/label.ts': '',
        'mail/outbox/a.ts': "import { type Label, labelNames } from '../drafts/index.ts'",
        'mail/outbox/b.ts': "import type {\n  Label,\n} from '../drafts/index.ts'",
      }),
    ).toEqual([])
  })

  it('from sync to messages and labels, and from providers to their contract', () => {
    expect(
      findViolations({
        'mail/sync/index.ts':
          "import { messageStore } from '../messages/index.ts'\nimport { labelStore } from '../labels/index.ts'",
        'mail/messages/index.ts': "import { labelStore } from '../labels/index.ts'",
        'mail/labels/index.ts': '',
        'providers/imap/index.ts': "import { ProviderError } from '../contract/index.ts'",
        'providers/contract/index.ts': '',
      }),
    ).toEqual([])
  })

  it('of the base modules of platform and ui by their other modules', () => {
    expect(
      findViolations({
        'platform/queue/index.ts': "import { stateOr } from '../db/index.ts'",
        'platform/db/index.ts': '',
        'ui/booking/page.ts': "import { brand } from '../hosted/index.ts'",
        'ui/hosted/index.ts': '',
        'ui/widget/theme.ts': "import { brand } from '../hosted/brand.ts'",
      }),
    ).toEqual([])
  })
})

describe('rejects', () => {
  it.each([
    [
      'a pure file',
      'platform/db',
      'platform/ids.ts: imports platform/db/index.ts, which is on a higher layer (1 above 0).',
      'platform/ids.ts',
    ],
    [
      'platform',
      'events',
      'platform/db/x.ts: imports events/index.ts, which is on a higher layer (2 above 1).',
      'platform/db/x.ts',
    ],
    [
      'a provider',
      'accounts',
      'providers/imap/x.ts: imports accounts/index.ts, which is on a higher layer (3 above 2).',
      'providers/imap/x.ts',
    ],
    [
      'accounts',
      'mail/sync',
      'accounts/x.ts: imports mail/sync/index.ts, which is on a higher layer (4 above 3).',
      'accounts/x.ts',
    ],
  ])('an upward import, even of types, from %s to %s', (_from, to, violation, file) => {
    const up = '../'.repeat(file.split('/').length - 1)
    const tree = {
      'platform/db/index.ts': '',
      [file]: `import type { X } from '${up}${to}/index.ts'`,
      [`${to}/index.ts`]: '',
    }
    expect(findViolations(tree)).toEqual([violation])
  })

  it('a feature that reads the configuration or the composition root', () => {
    expect(
      findViolations({
        'mail/sync/x.ts':
          "import type { Config } from '../../config/index.ts'\nimport type { App } from '../../app/lifecycle.ts'",
        'config/index.ts': '',
        'app/lifecycle.ts': '',
      }),
    ).toEqual([
      'mail/sync/x.ts: imports config/index.ts, which is on a higher layer (5 above 4).',
      'mail/sync/x.ts: imports app/lifecycle.ts, which is on a higher layer (6 above 4).',
    ])
  })

  it('labels that import messages', () => {
    expect(
      findViolations({
        'mail/labels/x.ts': "import type { M } from '../messages/index.ts'",
        'mail/messages/index.ts': '',
      }),
    ).toEqual(['mail/labels/x.ts: imports mail/messages/index.ts, which is on a higher layer (3.2 above 3.1).'])
  })

  it('a module imported past its index', () => {
    expect(
      findViolations({
        'mail/sync/x.ts': "import { store } from '../../accounts/store.ts'",
        'accounts/store.ts': '',
      }),
    ).toEqual(['mail/sync/x.ts: imports accounts/store.ts; import it through accounts/index.ts.'])
    expect(
      findViolations({ 'app/app.ts': "import { record } from '../events/record.ts'", 'events/record.ts': '' }),
    ).toEqual(['app/app.ts: imports events/record.ts; import it through events/index.ts.'])
  })

  it('a value imported within a layer', () => {
    const message = 'within a layer only types and read fragments may be imported.'
    expect(
      findViolations({
        'mail/drafts/index.ts': "export { labelStore } from './store.ts'",
        'mail/drafts/store.ts': '',
        'mail/outbox/a.ts': "import { labelStore } from '../drafts/index.ts'",
        'mail/outbox/b.ts': "import '../drafts/index.ts'",
        'mail/outbox/c.ts': "export * from '../drafts/index.ts'",
        'mail/outbox/d.ts': "const labels = await import('../drafts/index.ts')",
      }),
    ).toEqual([
      `mail/outbox/a.ts: imports labelStore from mail/drafts/index.ts; ${message}`,
      ...['b', 'c', 'd'].map((name) => `mail/outbox/${name}.ts: imports * from mail/drafts/index.ts; ${message}`),
    ])
  })

  it('a value that one base module of platform imports from another', () => {
    expect(
      findViolations({
        'platform/db/x.ts': "import { logger } from '../log/index.ts'",
        'platform/db/index.ts': '',
        'platform/log/index.ts': '',
      }),
    ).toEqual([
      'platform/db/x.ts: imports logger from platform/log/index.ts; platform/db and platform/log are both base modules and may share only types.',
    ])
  })

  it('a cycle of values, but not of types', () => {
    expect(
      findViolations({
        'platform/a.ts': "import { b } from './b.ts'",
        'platform/b.ts': "import { c } from './c.ts'",
        'platform/c.ts': "import { a } from './a.ts'",
      }),
    ).toEqual(['cycle: platform/a.ts → platform/b.ts → platform/c.ts → platform/a.ts'])
    expect(
      findViolations({
        'platform/a.ts': "import { b } from './b.ts'",
        'platform/b.ts': "import type { A } from './a.ts'",
      }),
    ).toEqual([])
  })

  it('the SDK, in a command that every command loads', () => {
    const types = "import type { Account } from '@posthorn/sdk'"
    expect(
      findViolations({
        'cli/online/a.ts': `${types}\nimport { Posthorn } from '@posthorn/sdk'`,
        'cli/online/b.ts': `${types}\nconst { Posthorn } = await import('@posthorn/sdk')`,
        'demo/demo.ts': "import { Posthorn } from '@posthorn/sdk'",
      }),
    ).toEqual(['cli/online/a.ts: imports @posthorn/sdk; import its types, and its values by import() in the command.'])
  })

  it('an index that exports too many names', () => {
    const names = (count) => Array.from({ length: count }, (_, index) => `name${index}`).join(', ')
    expect(
      findViolations({
        'mail/messages/index.ts': `export { ${names(45)} } from './a.ts'\nexport interface Extra {}`,
        'mail/outbox/index.ts': `export { ${names(70)} } from './a.ts'`,
        'mail/drafts/index.ts': `export { ${names(70)} } from './a.ts'\nexport async function extra() {}`,
        'mail/drafts/other.ts': `export { ${names(100)} } from './a.ts'`,
      }),
    ).toEqual([
      'mail/drafts/index.ts: exports 71 names, at most 70. Offer a few objects and functions in place of many.',
      'mail/messages/index.ts: exports 46 names, at most 45. Offer a few objects and functions in place of many.',
    ])
  })
})
