import * as React from "react";
import * as S from "@radix-ui/react-select";
import { Check, ChevronDown } from "lucide-react";
import { floating, menuItem } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const Select = S.Root;
export const SelectValue = S.Value;

export const SelectTrigger = React.forwardRef<HTMLButtonElement, S.SelectTriggerProps>(
  ({ className, children, ...props }, ref) => (
    <S.Trigger
      ref={ref}
      className={cn(
        "flex h-10 w-full items-center justify-between gap-2 rounded-md border border-input bg-background px-3 py-2 text-sm focus:outline-none focus:ring-2 focus:ring-ring disabled:opacity-50 [&>span]:line-clamp-1",
        className,
      )}
      {...props}
    >
      {children}
      <S.Icon asChild>
        <ChevronDown className="size-4 opacity-50" />
      </S.Icon>
    </S.Trigger>
  ),
);
SelectTrigger.displayName = "SelectTrigger";

export const SelectContent = ({ className, children, ...props }: S.SelectContentProps) => (
  <S.Portal>
    <S.Content position="popper" sideOffset={4} className={cn(floating, "max-h-96 min-w-[8rem] overflow-hidden", className)} {...props}>
      <S.Viewport className="w-full min-w-[var(--radix-select-trigger-width)] p-1">{children}</S.Viewport>
    </S.Content>
  </S.Portal>
);

export const SelectItem = ({ className, children, ...props }: S.SelectItemProps) => (
  <S.Item className={cn(menuItem, "pl-8", className)} {...props}>
    <S.ItemIndicator className="absolute left-2">
      <Check className="size-4" />
    </S.ItemIndicator>
    <S.ItemText>{children}</S.ItemText>
  </S.Item>
);
