import * as R from "@radix-ui/react-radio-group";
import { styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const RadioGroup = styled(R.Root, "grid gap-2");

export const RadioGroupItem = ({ className, ...props }: R.RadioGroupItemProps) => (
  <R.Item
    className={cn(
      "aspect-square size-4 rounded-full border border-primary focus:outline-none focus-visible:ring-2 focus-visible:ring-ring disabled:opacity-50",
      className,
    )}
    {...props}
  >
    <R.Indicator className="flex items-center justify-center">
      <span className="size-2 rounded-full bg-primary" />
    </R.Indicator>
  </R.Item>
);
