import * as T from "@radix-ui/react-toggle";
import { cva } from "class-variance-authority";
import { styled } from "@/lib/styled";

export const toggleVariants = cva(
  "inline-flex h-9 items-center whitespace-nowrap justify-center gap-2 rounded-md px-3 text-sm font-medium transition-colors hover:bg-muted focus-visible:outline-none focus-visible:ring-2 focus-visible:ring-ring disabled:opacity-50 data-[state=on]:bg-accent data-[state=on]:text-accent-foreground",
);

export const Toggle = styled(T.Root, toggleVariants());
