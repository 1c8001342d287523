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
        <circle cx="10" cy="13.5" r="5" />
        <path d="M2.5 8.5H14a4 4 0 0 0 3.5-2l1.5-2.5v12l-1.5-2.5A4 4 0 0 0 15 12" />
      </svg>
    </span>
  )
}
