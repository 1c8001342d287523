import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useRead } from '../api/queries.ts'
import type { Account, List } from '../api/types.ts'
import { GROUPS, PAGES } from '../pages/index.ts'
import { IconMailbox, IconSearch } from '../parts/icons.tsx'

export const openPalette = () => spotlight.open()

/** Ctrl+K: goes to a page or an account. */
export function CommandPalette() {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const wanted = text.trim()
  const { data } = useRead<List<'accounts', Account>>(
    '/accounts',
    { q: wanted, limit: 5 },
    { enabled: wanted.length > 1, pollMs: false },
  )
  const groups: SpotlightActionGroupData[] = GROUPS.map((group) => ({
    group,
    actions: PAGES.filter((page) => page.group === group).map(({ path, title, keywords, icon: IconOf }) => ({
      id: path,
      label: title,
      keywords: keywords ?? '',
      leftSection: IconOf !== undefined && <IconOf />,
      onClick: () => navigate(path),
    })),
  }))
  const accounts = wanted.length > 1 ? (data?.accounts ?? []) : []
  if (accounts.length > 0) {
    groups.unshift({
      group: 'Accounts',
      actions: accounts.map(({ id, email, provider }) => ({
        id,
        label: email,
        // Keeps every result of the service, even if the text is not a part of the address.
        keywords: wanted,
        description: `${provider} · ${id}`,
        leftSection: <IconMailbox />,
        onClick: () => navigate(`/accounts/${id}`),
      })),
    })
  }
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K', '/']}
      nothingFound="No page or account matches."
      highlightQuery
      centered={false}
      yOffset={96}
      scrollable
      maxHeight={420}
      searchProps={{
        // Accounts that arrive after the last key are not selected by themselves.
        onKeyDown(event) {
          const [first] = accounts
          if (
            event.key !== 'Enter' ||
            first === undefined ||
            document.querySelector('[data-action][data-selected]') !== null
          )
            return
          event.preventDefault()
          spotlight.close()
          navigate(`/accounts/${first.id}`)
        },
        leftSection: <IconSearch />,
        placeholder: 'Go to a page or an account',
        'aria-label': 'Go to a page or an account',
      }}
    />
  )
}
