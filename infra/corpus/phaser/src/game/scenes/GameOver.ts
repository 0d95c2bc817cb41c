import { Scene } from 'phaser';

export class GameOver extends Scene
{
    constructor ()
    {
        super('GameOver');
    }

    create ({ score }: { score: number })
    {
        this.cameras.main.setBackgroundColor(0x415a77);
        const style = { fontFamily: 'Georgia', color: '#e0e1dd', align: 'center' };
        this.add.text(400, 220, `${score / 10} apples`, { ...style, fontSize: 64 }).setOrigin(0.5);
        this.add.text(400, 320, `Best: ${this.registry.get('best') / 10}\nPress to play again`, { ...style, fontSize: 28 }).setOrigin(0.5);
        this.input.once('pointerdown', () => this.scene.start('Orchard'));
        this.input.keyboard?.once('keydown-SPACE', () => this.scene.start('Orchard'));
    }
}
