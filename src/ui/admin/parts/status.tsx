import { Badge } from '@mantine/core'

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

const COLORS: Record<Tone, string> = { good: 'teal', busy: 'blue', warn: 'orange', bad: 'red', quiet: 'gray' }

/** A state in one word. The word says it; the colour only helps. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Badge variant="light" color={COLORS[tone]} radius="sm" className="status">
      {children}
    </Badge>
  )
}
