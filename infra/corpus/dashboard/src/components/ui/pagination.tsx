import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "@/components/ui/button";

interface PaginationProps {
  page: number;
  pages: number;
  onChange: (page: number) => void;
}

export function Pagination({ page, pages, onChange }: PaginationProps) {
  return (
    <nav aria-label="pagination" className="flex items-center gap-1">
      <Button variant="ghost" size="sm" disabled={page === 1} onClick={() => onChange(page - 1)}>
        <ChevronLeft /> <span className="hidden sm:inline">Previous</span>
      </Button>
      {Array.from({ length: pages }, (_, index) => index + 1).map((number) => (
        <Button
          key={number}
          size="sm"
          variant={number === page ? "outline" : "ghost"}
          aria-current={number === page ? "page" : undefined}
          onClick={() => onChange(number)}
        >
          {number}
        </Button>
      ))}
      <Button variant="ghost" size="sm" disabled={page === pages} onClick={() => onChange(page + 1)}>
        <span className="hidden sm:inline">Next</span> <ChevronRight />
      </Button>
    </nav>
  );
}
