import { IconMailbox } from '../parts/icons.tsx'

export function BrandMark() {
  return (
    <span className="brand-mark">
      <IconMailbox size={18} />
    </span>
  )
}
