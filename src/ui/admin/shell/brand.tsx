import { HORN } from '../../hosted/mark.ts'

export function BrandMark() {
  return (
    <span className="brand-mark">
      <svg
        aria-hidden="true"
        fill="none"
        height={20}
        stroke="currentColor"
        strokeLinecap="round"
        strokeLinejoin="round"
        strokeWidth={2}
        viewBox="0 0 24 24"
        width={20}
      >
        <circle {...HORN.coil} />
        <path d={HORN.tube} />
      </svg>
    </span>
  )
}
