import { Paper, Title, VisuallyHidden } from '@mantine/core'
import { Link } from 'wouter'
import { partStates, type States } from './part-states.ts'

/** The state of each part of the service in one line. */
export function StatusStrip(states: States) {
  return (
    <Paper withBorder component="section" aria-labelledby="strip-heading" className="strip">
      <VisuallyHidden>
        <Title order={2} id="strip-heading">
          Status
        </Title>
      </VisuallyHidden>
      {partStates(states).map(({ name, tone, state, href }) => (
        <Link key={name} href={href} className="strip-cell">
          <span className="strip-name">{name}</span>
          <span className="strip-state">
            <span className="dot" data-tone={tone} aria-hidden="true" />
            {state}
          </span>
        </Link>
      ))}
    </Paper>
  )
}
