import * as P from "@radix-ui/react-progress";
import { cn } from "@/lib/utils";

export const Progress = ({ className, value, ...props }: P.ProgressProps) => (
  <P.Root className={cn("relative h-2 w-full overflow-hidden rounded-full bg-secondary", className)} value={value} {...props}>
    <P.Indicator
      className="size-full flex-1 rounded-full bg-primary transition-all"
      style={{ transform: `translateX(-${100 - (value || 0)}%)` }}
    />
  </P.Root>
);
