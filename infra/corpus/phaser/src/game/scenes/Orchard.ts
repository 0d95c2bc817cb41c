import { Input, Math as PhaserMath, Physics, Scene, Types } from 'phaser';

export class Orchard extends Scene
{
    private basket!: Types.Physics.Arcade.SpriteWithDynamicBody;
    private things!: Physics.Arcade.Group;
    private keys!: Types.Input.Keyboard.CursorKeys;
    private label!: Phaser.GameObjects.Text;
    private score = 0;
    private lives = 3;

    constructor ()
    {
        super('Orchard');
    }

    create ()
    {
        this.score = 0;
        this.lives = 3;
        this.add.rectangle(400, 530, 800, 60, 0x6a994e);
        this.add.circle(690, 90, 46, 0xffe8a3);
        for (const x of [120, 330, 560])
        {
            this.add.rectangle(x, 450, 26, 130, 0x7f5539);
            this.add.circle(x, 330, 88, 0x588157);
            this.add.circle(x + 50, 362, 60, 0x6a994e);
        }

        this.basket = this.physics.add.sprite(400, 478, 'basket').setCollideWorldBounds(true);
        this.basket.body.setAllowGravity(false);
        this.things = this.physics.add.group();
        this.keys = this.input.keyboard!.createCursorKeys();
        this.input.on('pointermove', (pointer: Input.Pointer) => this.basket.setX(pointer.x));

        this.label = this.add.text(20, 16, '', { fontFamily: 'Georgia', fontSize: 26, color: '#1b263b' });
        this.write();

        this.physics.add.overlap(this.basket, this.things, (_, thing) => this.take(thing as Physics.Arcade.Sprite));
        this.time.addEvent({ delay: 750, loop: true, callback: this.drop, callbackScope: this });
    }

    update ()
    {
        if (this.keys.left.isDown) this.basket.x -= 7;
        if (this.keys.right.isDown) this.basket.x += 7;

        for (const thing of this.things.getChildren() as Physics.Arcade.Sprite[])
        {
            if (thing.y < 540) continue;
            const missed = thing.texture.key === 'apple';
            thing.destroy();
            if (missed) this.lose();
        }
    }

    private drop ()
    {
        const key = PhaserMath.Between(0, 4) === 0 ? 'stone' : 'apple';
        const thing = this.things.create(PhaserMath.Between(40, 760), 120, key) as Physics.Arcade.Sprite;
        thing.setAngularVelocity(PhaserMath.Between(-120, 120));
    }

    private take (thing: Physics.Arcade.Sprite)
    {
        const good = thing.texture.key === 'apple';
        thing.destroy();
        if (!good) return this.lose();
        this.score += 10;
        this.write();
    }

    private lose ()
    {
        this.lives -= 1;
        this.cameras.main.shake(120, 0.008);
        this.write();
        if (this.lives > 0) return;
        this.registry.set('best', Math.max(this.score, this.registry.get('best')));
        this.scene.start('GameOver', { score: this.score });
    }

    private write ()
    {
        this.label.setText(`Apples ${this.score / 10}    Lives ${this.lives}`);
    }
}
