import type { ReactNode } from 'react'

/** Names and values of one object. Undefined values are left out. */
export function Fields({ items }: { items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="fields">
      {items
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value ?? '–'}</dd>
          </div>
        ))}
    </dl>
  )
}
