import { MultiSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useRead } from '../api/queries.ts'
import type { Account, List } from '../api/types.ts'
import { useAccountNames } from './account-names.tsx'
import { FilterChip, useIsChip } from './filters.tsx'

const TYPING_MS = 250
const SHOWN = 20

/** Accounts that match what is typed; of many, the first. Also the chosen ones, so that their addresses can be shown. */
function useAccounts(text: string, chosen: readonly string[]) {
  const [q] = useDebouncedValue(text, TYPING_MS)
  const { data } = useRead<List<'accounts', Account>>('/accounts', { q, limit: SHOWN }, { live: ['account.'] })
  const found = (data?.accounts ?? []).map(({ id, email }) => ({ value: id, label: email }))
  const others = chosen.filter((id) => !found.some(({ value }) => value === id))
  const names = useAccountNames(others)
  return [...found, ...others.map((id) => ({ value: id, label: names[id] ?? id }))]
}

/** One account, for filters. */
export function AccountFilter({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange(value: string): void
}) {
  const [text, setText] = useState('')
  const accounts = useAccounts(text, value === '' ? [] : [value])
  if (useIsChip()) {
    const chosen = accounts.find((account) => account.value === value)?.label ?? value
    return <FilterChip label={label} value={chosen} onClear={() => onChange('')} />
  }
  return (
    <Select
      className="filter"
      __vars={{ '--filter-width': '240px' }}
      aria-label={label}
      placeholder={label}
      data={accounts}
      filter={({ options }) => options}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
      nothingFoundMessage="No account matches"
      value={value === '' ? null : value}
      searchValue={text}
      onSearchChange={setText}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}

/** Several accounts, in a form. */
export function AccountsField({
  label,
  description,
  value,
  onChange,
}: {
  label: string
  description?: ReactNode
  value: string[]
  onChange(value: string[]): void
}) {
  const [text, setText] = useState('')
  const accounts = useAccounts(text, value)
  return (
    <MultiSelect
      label={label}
      description={description}
      placeholder={value.length === 0 ? 'Search an address' : ''}
      data={accounts}
      filter={({ options }) => options}
      searchable
      nothingFoundMessage="No account matches"
      value={value}
      searchValue={text}
      onSearchChange={setText}
      onChange={onChange}
    />
  )
}
