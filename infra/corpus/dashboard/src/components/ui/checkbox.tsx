import * as React from "react";
import * as C from "@radix-ui/react-checkbox";
import { Check } from "lucide-react";
import { cn } from "@/lib/utils";

export const Checkbox = React.forwardRef<HTMLButtonElement, C.CheckboxProps>(({ className, ...props }, ref) => (
  <C.Root
    ref={ref}
    className={cn(
      "peer size-4 shrink-0 rounded-[4px] border border-primary focus-visible:outline-none focus-visible:ring-2 focus-visible:ring-ring disabled:cursor-not-allowed disabled:opacity-50 data-[state=checked]:bg-primary data-[state=checked]:text-primary-foreground",
      className,
    )}
    {...props}
  >
    <C.Indicator className="flex items-center justify-center text-current">
      <Check className="size-3.5" />
    </C.Indicator>
  </C.Root>
));
Checkbox.displayName = "Checkbox";
