import * as T from "@radix-ui/react-tooltip";
import { floating, styled } from "@/lib/styled";

export const TooltipProvider = T.Provider;
export const Tooltip = T.Root;
export const TooltipTrigger = T.Trigger;
const Content = styled(T.Content, `${floating} px-3 py-1.5 text-xs`);

export const TooltipContent = ({ sideOffset = 4, ...props }: T.TooltipContentProps) => (
  <T.Portal>
    <Content sideOffset={sideOffset} {...props} />
  </T.Portal>
);
