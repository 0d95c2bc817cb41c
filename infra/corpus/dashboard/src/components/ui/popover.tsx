import * as P from "@radix-ui/react-popover";
import { floating, styled } from "@/lib/styled";

export const Popover = P.Root;
export const PopoverTrigger = P.Trigger;
const Content = styled(P.Content, `${floating} w-72 p-4`);

export const PopoverContent = ({ align = "end", sideOffset = 6, ...props }: P.PopoverContentProps) => (
  <P.Portal>
    <Content align={align} sideOffset={sideOffset} {...props} />
  </P.Portal>
);
